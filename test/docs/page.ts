/** One example of a page. */
export interface Example {
  /** For a POSIX shell. */
  readonly script: Block
  /** Its output, including stderr, if the page shows it; see `outputFits`. */
  readonly output?: Block
}

export interface Block {
  /** Line of the page, 1-based, on which it begins. */
  readonly line: number
  readonly lines: readonly string[]
}

/**
 * The examples of a Markdown page, in order: every block marked `sh`, and the `text` block that follows it directly as
 * its output. `sh elsewhere` marks examples that no test can run (another account, a screen); they are omitted.
 */
export function examplesOf(page: string): Example[] {
  const examples: Example[] = []
  let open: { readonly kind: string; readonly line: number; readonly lines: string[] } | undefined
  let script: Block | undefined
  for (const [at, text] of page.split('\n').entries()) {
    if (open === undefined) {
      if (text.startsWith('```')) open = { kind: text.slice(3).trim(), line: at + 2, lines: [] }
      else if (text.trim() !== '') script = undefined
    } else if (text === '```') {
      const { kind, ...block } = open
      if (kind === 'text' && script !== undefined) examples[examples.length - 1] = { script, output: block }
      script = kind === 'sh' ? block : undefined
      if (script !== undefined) examples.push({ script })
      open = undefined
    } else open.lines.push(text)
  }
  return examples
}

/** The page with new outputs: each example with its current one. */
export function withOutputs(page: string, outputs: readonly (readonly [example: Example, printed: string])[]): string {
  const lines = page.split('\n')
  // From the end, so that the lines before stay where they are.
  for (const [{ output }, printed] of [...outputs].reverse()) {
    if (output === undefined) continue
    const fresh = printed
      .trimEnd()
      .split('\n')
      .map(line => line.trimEnd())
    lines.splice(output.line - 1, output.lines.length, ...fresh)
  }
  return lines.join('\n')
}

/** Whether the output matches the page, ignoring everything that differs from run to run. */
export function outputFits(shown: readonly string[], printed: string): boolean {
  const lines = shown.map(normal)
  const pattern = lines.map(line => (line === '…' ? '(?:.*\n)*?' : `${escaped(line).replaceAll('…', '.*')}\n`)).join('')
  return new RegExp(`^${pattern}$`, 'u').test(`${printed.trim().split('\n').map(normal).join('\n')}\n`)
}

/**
 * Differs from run to run: times, ages, lengths of bars, measurements, ids, processes, and with them the widths of
 * columns. Numbers of streams, events and versions are compared. `…` matches any text, on a line of its own any lines.
 */
const VARIES: readonly (readonly [what: RegExp, instead: string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID'],
  [/ n="[0-9a-f]{8}"/g, ' n="NONCE"'],
  [/\b\d{8}T\d{6}Z-(\w+)-[0-9a-f]{8}\b/g, 'RUN-$1'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, 'TIME'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'DAY'],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, 'TIME'],
  [/\b\d+(?:\.\d+)? ms\b/g, '0 ms'],
  [/\b\d+(?:\.\d+)? [KMG]iB\b/g, '0 KiB'],
  [/\bpid \d+/g, 'pid 0'],
  [/"(\w+Ms)":\d+/g, '"$1":0'],
  [/\b\d+(?:ms|[smhdw])(?:\d+[smhd])*\b/g, '0s'],
  [/[█░─]+/g, '─'],
  [/(?:│\S*\s*)+/g, '│ '],
  [/\s+/g, ' '],
]

function normal(line: string): string {
  return VARIES.reduce((text, [what, instead]) => text.replace(what, instead), line).trim()
}

function escaped(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')
}
