import type { Output } from '../../cli/output.ts'
import { transactionJson, transactionLines } from '../../formats/journal.ts'
import { jsonLine } from '../../formats/json.ts'
import { highlightMatches } from '../../formats/terminal/highlight.ts'
import { counted, span } from '../../formats/terminal/numbers.ts'
import { hueOf, noPaint, type Paint } from '../../formats/terminal/style.ts'
import { widthOf } from '../../formats/terminal/width.ts'
import type { FollowItem, JournalGap } from '../../ops/follow/follow.ts'
import type { FollowManyItem } from '../../ops/follow/follow-many.ts'
import type { JournalEntry } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { passes, type TailOptions } from './options.ts'

/** Prints transactions. */
export interface TransactionPrinter {
  /** True if the transaction passes `--include` and `--exclude`, which search its printed lines without colours. */
  wants(stream: string, tx: JournalEntry): boolean
  print(stream: string, tx: JournalEntry): Promise<void>
  /** Writes all buffered transactions. */
  flush(): Promise<void>
}

/** Transactions per write. */
const AT_ONCE = 100

/** @param named begin each transaction with its stream, for output of several streams */
export function openPrinter(
  options: TailOptions,
  output: Output,
  store: StreamStore,
  named: boolean,
): TransactionPrinter {
  const linesOf = (tx: JournalEntry, paint = noPaint) =>
    transactionLines(tx, { time: output.time, nowMs: store.nowMs(), paint, provisional: tx.provisional })
  const isFiltered = options.include !== undefined || options.exclude !== undefined
  const write = options.output === 'ndjson' ? jsonWriter(output) : textWriter(options, output, named)
  let held: Shown[] = []
  const flush = async () => {
    const shown = held
    held = []
    if (shown.length > 0) await write(shown, linesOf)
  }
  return {
    wants: (stream, tx) => !isFiltered || passes(withName(stream, linesOf(tx)), options),
    async print(stream, tx) {
      held.push({ stream, tx })
      if (held.length >= AT_ONCE) await flush()
    },
    flush,
  }
}

interface Shown {
  readonly stream: string
  readonly tx: JournalEntry
}

type Write = (shown: readonly Shown[], linesOf: (tx: JournalEntry, paint?: Paint) => string[]) => Promise<void>

function jsonWriter(output: Output): Write {
  return async shown => {
    await output.text(shown.map(({ stream, tx }) => jsonLine(transactionJson(stream, tx, tx.provisional))).join(''))
  }
}

function textWriter(options: TailOptions, output: Output, named: boolean): Write {
  let width = 0
  const nameOf = ({ stream }: Shown) =>
    options.place === undefined ? visibleName(stream) : `${visibleText(options.place)}:${visibleName(stream)}`
  return async (shown, linesOf) => {
    const names = named ? shown.map(one => widthOf(nameOf(one))) : []
    width = names.reduce((widest, name) => Math.max(widest, Math.min(name, WIDEST_NAME)), width)
    const lines = shown.flatMap(one => {
      const plain = linesOf(one.tx, output.paint)
      return named ? besideName(nameOf(one), plain, width, output.paint) : plain
    })
    await output.lines(lines.map(line => mark(line, options, output)))
  }
}

/** Adds the name, even where it is not printed, so that a pattern means the same for one stream and for many. */
function withName(stream: string, [first = '', ...others]: readonly string[]): readonly string[] {
  return [`${visibleName(stream)}  ${first}`, ...others]
}

function mark(line: string, { highlight = [] }: TailOptions, { paint }: Output): string {
  return highlight.length === 0 || paint === noPaint ? line : highlightMatches(line, highlight, paint)
}

/** A longer name indents only its own transaction, so that the others stay close to their names. */
const WIDEST_NAME = 40

/** Puts the name in front of the first line, in a column as wide as the widest name so far. */
function besideName(name: string, [first = '', ...others]: readonly string[], width: number, paint: Paint): string[] {
  const gap = ' '.repeat(Math.max(0, width - widthOf(name)) + 2)
  const indent = ' '.repeat(Math.max(width, widthOf(name)) + 2)
  return [paint(hueOf(name), name) + gap + first, ...others.map(line => indent + line)]
}

/** The notice about one stream. @param outageMs how long the store did not answer, if it did not */
export function noticeOfOne(
  item: Exclude<FollowItem, { kind: 'transaction' }>,
  stream: string,
  outageMs: number,
): string {
  const name = visibleName(stream)
  switch (item.kind) {
    case 'interrupted':
      return lostText(item.cause)
    case 'resumed':
      return `${backText(outageMs)}; ${item.broken === undefined ? 'nothing was missed' : breakText(name, item.broken)}`
    case 'done':
      return `${name} is done; a retry may reopen it (Ctrl-C to stop)`
    case 'gone':
      return `${name} was removed; waiting for it to return (Ctrl-C to stop)`
    default:
      return item satisfies never
  }
}

type Notice = Extract<FollowManyItem, { kind: 'interrupted' | 'resumed' | 'broken' | 'gone' }>

/** Notices about many streams. */
export function noticesOfMany(item: Notice, outageMs: number): readonly string[] {
  switch (item.kind) {
    case 'interrupted':
      return [lostText(item.cause)]
    case 'resumed':
      return [`${backText(outageMs)}; ${missedText(item)}`]
    case 'broken':
      return [breakText(visibleName(item.stream), item.why)]
    case 'gone':
      return goneTexts(item.names)
    default:
      return item satisfies never
  }
}

function lostText(cause: unknown): string {
  const what = cause instanceof StreamFault ? 'it cannot be read' : 'connection lost'
  return `${what}: ${visibleText(cause instanceof Error ? cause.message : String(cause))}; trying again`
}

function backText(outageMs: number): string {
  return outageMs < 1_000 ? 'connected again' : `connected again after ${span(outageMs)}`
}

function missedText({ broken, gone }: Extract<Notice, { kind: 'resumed' }>): string {
  const gones = `${counted(gone, 'stream')} had been removed`
  if (broken === 0) return `nothing was missed${gone === 0 ? '' : `, but ${gones}`}`
  const missed = `transactions of ${counted(broken, 'stream')}, named above, may have been missed`
  return gone === 0 ? missed : `${missed}, and ${gones}`
}

function breakText(name: string, why: JournalGap): string {
  return why === 'other-life'
    ? `${name} was removed and created again; its last transactions before that may have been missed`
    : `${name} was restored from an older copy, or its history was cut; transactions may have been missed`
}

const MOST_NAMED = 10

function goneTexts(names: readonly string[]): string[] {
  const lines = names.slice(0, MOST_NAMED).map(name => `${visibleName(name)} was removed`)
  const more = names.length - lines.length
  return more > 0 ? [...lines, `${more} more were removed`] : lines
}
