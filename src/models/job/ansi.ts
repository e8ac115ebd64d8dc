/** Terminal colours in log lines: `text` with escape codes becomes pieces with class names. */

export interface IPiece {
  text: string;
  className: string;
}

// Escape codes are control characters.
/* eslint-disable no-control-regex */
const ESCAPE =
  /\u001b(?:\[([0-9;?]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][AB012])/g;
/* eslint-enable no-control-regex */
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

interface IStyle {
  colour: string;
  bold: boolean;
  faint: boolean;
  italic: boolean;
  underline: boolean;
  /** On another background, or inverted. */
  marked: boolean;
}

const PLAIN: IStyle = {
  colour: '',
  bold: false,
  faint: false,
  italic: false,
  underline: false,
  marked: false
};

/** Pieces of a line; movements of the cursor and other codes are left out. */
export function parseAnsi(text: string): IPiece[] {
  if (!text.includes('\u001b')) {
    return [{ text, className: '' }];
  }
  const pieces: IPiece[] = [];
  let style = PLAIN;
  let end = 0;
  const push = (piece: string) => {
    if (piece) {
      pieces.push({ text: piece, className: className(style) });
    }
  };
  for (const match of text.matchAll(ESCAPE)) {
    push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[2] === 'm') {
      style = apply(style, match[1].split(';').map(Number));
    }
  }
  push(text.slice(end));
  return pieces;
}

function apply(style: IStyle, codes: number[]): IStyle {
  let next = { ...style };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i];
    if (code === 0) {
      next = { ...PLAIN };
    } else if (code === 1) {
      next.bold = true;
    } else if (code === 2) {
      next.faint = true;
    } else if (code === 3) {
      next.italic = true;
    } else if (code === 4) {
      next.underline = true;
    } else if (code === 7 || (code >= 40 && code <= 47) || (code >= 100 && code <= 107)) {
      next.marked = true;
    } else if (code === 27 || code === 49) {
      next.marked = false;
    } else if (code === 22) {
      next.bold = next.faint = false;
    } else if (code === 23) {
      next.italic = false;
    } else if (code === 24) {
      next.underline = false;
    } else if (code >= 30 && code <= 37) {
      next.colour = COLOURS[code - 30];
    } else if (code >= 90 && code <= 97) {
      next.colour = COLOURS[code - 90];
    } else if (code === 39) {
      next.colour = '';
    } else if (code === 38 || code === 48) {
      // 256 colours (5;n) and RGB (2;r;g;b), each as the named one that is nearest: those read well in any theme.
      const indexed = codes[i + 1] === 5;
      if (code === 48) {
        next.marked = true;
      } else if (indexed) {
        next.colour = colourOf(codes[i + 2]);
      } else {
        next.colour = nearest(codes.slice(i + 2, i + 5));
      }
      i += indexed ? 2 : 4;
    }
  }
  return next;
}

/** The name of one of 256 colours: sixteen that have names, a cube of 6 × 6 × 6, greys. */
function colourOf(index: number): string {
  if (index < 16) {
    return COLOURS[index % 8];
  }
  const place = index - 16;
  return index < 232
    ? nearest([Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6])
    : '';
}

/** The name of a mixture of red, green and blue; empty for a grey. */
function nearest(parts: readonly number[]): string {
  const most = Math.max(...parts);
  const bits = parts.reduce((sum, part, bit) => sum + (part > 0.6 * most ? 1 << bit : 0), 0);
  return bits === 7 || !most ? '' : COLOURS[bits];
}

function className(style: IStyle): string {
  const names: string[] = [];
  if (style.colour) {
    names.push(`jp-PaddleGpu-ansi-${style.colour}`);
  }
  for (const name of ['bold', 'faint', 'italic', 'underline', 'marked'] as const) {
    if (style[name]) {
      names.push(`jp-PaddleGpu-ansi-${name}`);
    }
  }
  return names.join(' ');
}
