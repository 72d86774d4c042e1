import { blend, type Frame } from './frame.ts';
import type { Overlay } from './scene.ts';

/** Glyphs of five columns and seven rows, one base-32 digit per row. */
const dots: Record<string, string> = {
  '0': 'ehjlphe',
  '1': '4c4444e',
  '2': 'eh1248v',
  '3': 'v2421he',
  '4': '26aiv22',
  '5': 'vgu11he',
  '6': '68guhhe',
  '7': 'v124888',
  '8': 'ehhehhe',
  '9': 'ehhf12c',
  ':': '0440440',
  '-': '000v000',
  ' ': '0000000',
};
/**
 * Draws an overlay at a tick. Ticks are about 10 s apart with some jitter, so that every digit of the seconds
 * changes.
 */
export function drawOverlay(frame: Frame, overlay: Overlay, tick: number): void {
  const text = overlay.kind === 'clock' ? clockText(tick) : '';
  const unit = overlay.height / 7;
  const advance = Math.round(unit * 6);
  if (overlay.box) fill(frame, overlay.x - 6, overlay.y - 6, text.length * advance + 8, overlay.height + 12);
  if (overlay.kind === 'ticker') {
    ticker(frame, overlay, tick, unit, advance);
    return;
  }
  for (const [at, glyph] of Array.from(text).entries()) {
    drawGlyph(frame, glyph, overlay, overlay.x + at * advance, unit);
  }
}

function clockText(tick: number): string {
  const seconds = 8 * 3600 + 57 * 60 + 31 + tick * 10 + ((tick * 7) % 4);
  const part = (value: number): string => String(value % 60).padStart(2, '0');
  return `2026-03-01 ${part(Math.floor(seconds / 3600))}:${part(Math.floor(seconds / 60))}:${part(seconds)}`;
}

/** Draws a ticker: a band over the whole width with moving text. */
function ticker(frame: Frame, overlay: Overlay, tick: number, unit: number, advance: number): void {
  fill(frame, 0, overlay.y - 8, frame.width, overlay.height + 16);
  for (let at = 0; at * advance < frame.width; at += 1) {
    const letter = Math.imul(at + tick * 17, 2654435761) >>> 28;
    drawGlyph(frame, String(letter % 11).replace('10', ' '), overlay, at * advance, unit);
  }
}

function drawGlyph(frame: Frame, glyph: string, { y, font }: Overlay, left: number, unit: number): void {
  const grow = font === 'bold' ? unit * 1.5 : unit;
  for (const [row, letter] of Array.from(dots[glyph] ?? '').entries()) {
    for (let column = 0; column < 5; column += 1) {
      if (Number.parseInt(letter, 32) & (16 >> column)) {
        square(frame, left + column * unit, y + row * unit, grow, grow);
      }
    }
  }
}

function square(frame: Frame, left: number, top: number, wide: number, high: number): void {
  for (let y = Math.round(top); y < Math.round(top + high); y += 1) {
    for (let x = Math.round(left); x < Math.round(left + wide); x += 1) blend(frame, x, y, 225, 0.9);
  }
}

function fill(frame: Frame, left: number, top: number, wide: number, high: number): void {
  for (let y = Math.round(top); y < top + high; y += 1) {
    for (let x = Math.round(left); x < left + wide; x += 1) blend(frame, x, y, 24, 0.75);
  }
}
