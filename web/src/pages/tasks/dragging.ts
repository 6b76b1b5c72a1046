// Drag and drop of cards with the browser's own events.

/** Media type of a dragged card, which distinguishes it from other drags. */
const CARD_MEDIA_TYPE = 'application/x-adjutant-task';

export function startDrag(transfer: DataTransfer, number: number): void {
  transfer.setData(CARD_MEDIA_TYPE, String(number));
  transfer.effectAllowed = 'move';
}

/** True if a card is dragged. The browser reveals its number only on drop. */
export function isCardDrag(transfer: DataTransfer): boolean {
  return transfer.types.includes(CARD_MEDIA_TYPE);
}

export function readDraggedCard(transfer: DataTransfer): number | null {
  const number = Number.parseInt(transfer.getData(CARD_MEDIA_TYPE), 10);
  return Number.isNaN(number) ? null : number;
}
