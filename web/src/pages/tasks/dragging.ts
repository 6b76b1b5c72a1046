// A card on its way to another column, by the browser's own dragging.

/** What is carried; a type of our own, so that nothing else that is dragged over the board is taken for a card. */
const KIND = 'application/x-adjutant-task';

export function carry(transfer: DataTransfer, number: number): void {
  transfer.setData(KIND, String(number));
  transfer.effectAllowed = 'move';
}

/** Whether a card is carried. Which one is only told when it is let go. */
export function isCard(transfer: DataTransfer): boolean {
  return transfer.types.includes(KIND);
}

export function carried(transfer: DataTransfer): number | null {
  const number = Number.parseInt(transfer.getData(KIND), 10);
  return Number.isNaN(number) ? null : number;
}
