import { readFileSync } from 'node:fs'

/** The meaning of a word of the tables. */
export interface Meaning {
  readonly exit: number
  /** The possible states of the stream. */
  readonly truths: readonly string[]
  /** The possible outcomes of the same command later; empty if there is no reason to repeat it. */
  readonly again: readonly string[]
}

/** A cell: the outcome of an operation with a fault. */
export interface Cell {
  readonly fault: string
  readonly operation: string
  readonly outcome: string
}

export interface Page {
  readonly meanings: ReadonlyMap<string, Meaning>
  readonly once: readonly Cell[]
  readonly lasting: readonly Cell[]
}

export function pageText(): string {
  return readFileSync(new URL('../../../docs/ambiguity.md', import.meta.url), 'utf8')
}

export function readPage(text: string): Page {
  const [words = [], once = [], lasting = []] = tablesOf(text)
  return { meanings: new Map(words.slice(1).map(meaningOf)), once: cellsOf(once), lasting: cellsOf(lasting) }
}

/** Unknown cells of the page, missing cells, and words without a meaning. */
export function gaps(page: Page, operations: readonly string[], once: readonly string[], lasting: readonly string[]) {
  const product = (faults: readonly string[]) => faults.flatMap(fault => operations.map(name => `${fault} × ${name}`))
  const missing = (wanted: readonly string[], there: readonly string[]) => wanted.filter(name => !there.includes(name))
  return [['once', page.once, once] as const, ['lasting', page.lasting, lasting] as const].flatMap(
    ([title, cells, faults]) => {
      const there = cells.map(({ fault, operation }) => `${fault} × ${operation}`)
      const twice = there.filter((name, at) => there.indexOf(name) !== at)
      return [
        ...missing(product(faults), there).map(name => `${title}: ${name} is not on the page`),
        ...missing(there, product(faults)).map(name => `${title}: ${name} cannot be played`),
        ...twice.map(name => `${title}: ${name} is there twice`),
        ...cells
          .filter(({ outcome }) => !page.meanings.has(outcome))
          .map(cell => `${title}: ${cell.fault} × ${cell.operation} says ${cell.outcome}, which has no meaning`),
      ]
    },
  )
}

/** The tables of a Markdown page, as rows of cells, without the rows of dashes. */
function tablesOf(text: string): string[][][] {
  return text
    .split(/\n(?!\|)/)
    .map(block => block.split('\n').filter(line => line.startsWith('|') && !line.startsWith('|--')))
    .filter(lines => lines.length > 0)
    .map(lines =>
      lines.map(line =>
        line
          .split('|')
          .slice(1, -1)
          .map(cell => cell.trim()),
      ),
    )
}

function meaningOf([word = '', exit = '', truths = '', again = '']: readonly string[]): [string, Meaning] {
  const either = (cell: string) => cell.split(' or ').filter(part => part !== '')
  return [word, { exit: Number(exit), truths: either(truths), again: either(again) }]
}

function cellsOf([head = [], ...rows]: readonly string[][]): Cell[] {
  return rows.flatMap(([fault = '', ...outcomes]) =>
    head.slice(1).map((operation, at) => ({ fault, operation, outcome: outcomes[at] ?? '' })),
  )
}
