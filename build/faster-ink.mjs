import { fileURLToPath } from 'node:url'

/** Counts characters where that is enough, which is nearly everywhere: string-width uses a segmenter and tables for each. */
const WIDTHS = JSON.stringify(fileURLToPath(new URL('../src/formats/terminal/width.ts', import.meta.url)))

/**
 * Ink draws each frame from scratch: it measures, tokenises and joins every text again, although most rows are unchanged. These
 * edits cache measurements and finished rows across frames, and use our measuring. The output bytes stay the same, which
 * `test/release/faster-ink.test.ts` compares; without the edits everything works, but slower.
 *
 * The edits match one version of Ink: if a text is not found the build fails.
 */
export function fasterInk() {
  return {
    name: 'faster-ink',
    transform: {
      filter: {
        id: /[\\/]node_modules[\\/]ink[\\/]build[\\/](output|render-node-to-output|line-update|measure-text)\.js$/,
      },
      handler: (code, id) => fasterModule(id.replace(/^.*[\\/]/, ''), code),
    },
  }
}

/**
 * A module of Ink with its edits.
 *
 * @param {string} file its name, such as `output.js`
 * @throws if it does not contain the text to be edited
 */
export function fasterModule(file, code) {
  const edits = EDITS[file]
  if (edits === undefined) throw new Error(`build/faster-ink.mjs: there are no edits for Ink's ${file}`)
  return edit(file, code, edits)
}

function edit(file, code, edits) {
  return edits.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) {
      throw new Error(`build/faster-ink.mjs: Ink's ${file} has not exactly one \`${from.trim()}\` any more`)
    }
    return text.replace(from, () => to)
  }, code)
}

/** Characters that take one column each, in any context. */
const NARROW = '[ -~\\u00a1-\\u00ac\\u00ae-\\u02ff\\u2026\\u203a\\u2190-\\u2193\\u2500-\\u259f▶▸▾○◷✓✗]'

/** If no text is clipped or has more than one line, rows are independent of each other. */
const GET = `    get() {
        if (this.operations.some(({ type, text }) => type !== 'write' || text.includes('\\n'))) return this.getWhole();
        const rows = Array.from({ length: this.height }, () => []);
        for (const operation of this.operations) rows[operation.y]?.push(operation);
        const lines = rows.map((operations, y) => this.getLine(operations, y));
        return { output: lines.join('\\n'), height: lines.length };
    }
    getLine(operations, y) {
        let key = String(this.width);
        for (const { x, text, transformers } of operations) {
            let drawn = text;
            for (const transformer of transformers) drawn = transformer(drawn, 0);
            key += '\\0' + x + '\\0' + drawn;
            if (operations.length === 1 && x === 0 && drawn === text && isFinished(text, this.width)) return text.trimEnd();
        }
        let line = this.caches.lines.get(key);
        if (line === undefined) {
            const blank = { type: 'char', value: ' ', fullWidth: false, styles: [] };
            const output = { [y]: Array.from({ length: this.width }, () => blank) };
            for (const operation of operations) this.applyWriteOperation(output, operation, undefined);
            line = styledCharsToString(output[y].filter(item => item !== undefined)).trimEnd();
            this.caches.lines.set(key, line);
        }
        return line;
    }`

const KEPT = String.raw`
let kept;
function keptCaches() {
    kept ??= Object.assign(new OutputCaches(), { lines: new Map() });
    if (kept.styledChars.size > 512) kept.styledChars.clear();
    for (const cache of [kept.widths, kept.blockWidths, kept.lines]) if (cache.size > 4096) cache.clear();
    return kept;
}
// A row that is already a line: one-column characters, no more than fit, and all colours closed.
function isFinished(text, width) {
    if (!/^(?:${NARROW}|\x1b\[(?:[127]|22|27|39|3[0-7]|9[0-7])m)*$/.test(text)) return false;
    let length = text.length;
    const active = new Set();
    for (const [sgr, code] of text.matchAll(/\x1b\[(\d+)m/g)) {
        length -= sgr.length;
        if (code === '22') active.delete('1'), active.delete('2');
        else if (code === '27') active.delete('7');
        else if (code === '39') active.delete('colour');
        else active.add(code.length === 1 ? code : 'colour');
    }
    return length <= width && active.size === 0;
}
`

const TEXTS = `
const widths = new Map();
const squashed = new Map();
function remember(cache, key, make) {
    let value = cache.get(key);
    if (value === undefined) {
        if (cache.size > 4096) cache.clear();
        value = make();
        cache.set(key, value);
    }
    return value;
}
function widestLine(text) {
    return remember(widths, text, () => widestOf(text));
}
function squashTextNodes(node) {
    const [only] = node.childNodes;
    if (node.childNodes.length !== 1 || only.nodeName !== '#text') return squashNodes(node);
    return remember(squashed, only.nodeValue, () => squashNodes(node));
}
`

const STRING_WIDTH = ["import stringWidth from 'string-width';", `import { widthOf as stringWidth } from ${WIDTHS};`]
const WIDEST_LINE = [
  "import widestLine from 'widest-line';",
  `import { widthOf } from ${WIDTHS};
const bare = line => (line.includes('\\u001b[') ? line.replace(/\\u001b\\[[\\d;]*m/g, '') : line);
const widestOf = text => Math.max(...text.split('\\n').map(line => widthOf(bare(line))));`,
]

/** The replacements in each module. */
const EDITS = {
  // From texts at places to lines.
  'output.js': [
    STRING_WIDTH,
    ['class OutputCaches {', `${KEPT}class OutputCaches {`],
    ['    caches = new OutputCaches();', '    caches = keptCaches();'],
    ['    get() {', '    getWhole() {'],
    [
      '    applyWriteOperation(output, operation, clip) {',
      `${GET}\n    applyWriteOperation(output, operation, clip) {`,
    ],
  ],
  // From nodes to texts at places.
  'render-node-to-output.js': [
    [WIDEST_LINE[0], `${WIDEST_LINE[1]}\n${TEXTS}`],
    ["import squashTextNodes from './squash-text-nodes.js';", "import squashNodes from './squash-text-nodes.js';"],
  ],
  'measure-text.js': [WIDEST_LINE, ['const width = widestLine(text);', 'const width = widestOf(text);']],
  // From one line to the next. Each of these characters takes one column and is one character.
  'line-update.js': [STRING_WIDTH, ['const printableAscii = /^[ -~]*$/u;', `const printableAscii = /^${NARROW}*$/u;`]],
}
