// Drag and drop of cards with the browser's own events.

/** Media type of a dragged card, which distinguishes it from other drags. */
const KIND = 'application/x-adjutant-task';

export function carry(transfer: DataTransfer, number: number): void {
  transfer.setData(KIND, String(number));
  transfer.effectAllowed = 'move';
}

/** True if a card is dragged. The browser reveals its number only on drop. */
export function isCard(transfer: DataTransfer): boolean {
  return transfer.types.includes(KIND);
}

export function carried(transfer: DataTransfer): number | null {
  const number = Number.parseInt(transfer.getData(KIND), 10);
  return Number.isNaN(number) ? null : number;
}
