import type { Output } from '../../cli/output.ts'
import { transactionJson, transactionLines } from '../../formats/journal.ts'
import { jsonLine } from '../../formats/json.ts'
import { highlighted } from '../../formats/terminal/highlight.ts'
import { hueOf, noPaint, type Paint } from '../../formats/terminal/style.ts'
import { widthOf } from '../../formats/terminal/width.ts'
import type { SeenTransaction } from '../../ops/read-stream.ts'
import type { EventStore } from '../../store/store.ts'
import { visibleName } from '../../stream/text.ts'
import type { TailOptions } from './options.ts'
import { passes } from './patterns.ts'

/** Where transactions go. */
export interface Printer {
  /** Whether `--include` and `--exclude` let it pass: they search the lines as they are printed, without colours. */
  wants(stream: string, tx: SeenTransaction): boolean
  print(stream: string, tx: SeenTransaction): Promise<void>
  /** Writes what is still held back. */
  flush(): Promise<void>
}

/** So many texts go out in one write. */
const AT_ONCE = 100

/** @param named whether each line begins with its stream: where there are several */
export function openPrinter(options: TailOptions, output: Output, store: EventStore, named: boolean): Printer {
  const linesOf = (tx: SeenTransaction, paint = noPaint) =>
    transactionLines(tx, { time: output.time, nowMs: store.nowMs(), paint, provisional: tx.provisional })
  const isChoosy = options.include !== undefined || options.exclude !== undefined
  const write = options.output === 'ndjson' ? jsonWriter(output) : textWriter(options, output, named)
  let held: Shown[] = []
  const flush = async () => {
    const shown = held
    held = []
    if (shown.length > 0) await write(shown, linesOf)
  }
  return {
    wants: (stream, tx) => !isChoosy || passes(withName(stream, linesOf(tx)), options),
    async print(stream, tx) {
      held.push({ stream, tx })
      if (held.length >= AT_ONCE) await flush()
    },
    flush,
  }
}

interface Shown {
  readonly stream: string
  readonly tx: SeenTransaction
}

type Write = (shown: readonly Shown[], linesOf: (tx: SeenTransaction, paint?: Paint) => string[]) => Promise<void>

function jsonWriter(output: Output): Write {
  return async shown => {
    await output.text(shown.map(({ stream, tx }) => jsonLine(transactionJson(stream, tx, tx.provisional))).join(''))
  }
}

function textWriter(options: TailOptions, output: Output, named: boolean): Write {
  let width = 0
  return async (shown, linesOf) => {
    const names = named ? shown.map(({ stream }) => widthOf(visibleName(stream))) : []
    width = names.reduce((widest, name) => Math.max(widest, Math.min(name, WIDEST_NAME)), width)
    const lines = shown.flatMap(({ stream, tx }) => {
      const plain = linesOf(tx, output.paint)
      return named ? besideName(stream, plain, width, output.paint) : plain
    })
    await output.lines(lines.map(line => mark(line, options, output)))
  }
}

/** The name is searched for one stream too, where it is not printed: the same pattern means the same. */
function withName(stream: string, [first = '', ...others]: readonly string[]): readonly string[] {
  return [`${visibleName(stream)}  ${first}`, ...others]
}

function mark(line: string, { highlight = [] }: TailOptions, { paint }: Output): string {
  return highlight.length === 0 || paint === noPaint ? line : highlighted(line, highlight, paint)
}

/** A longer name widens its own line only: others would stand far from theirs. */
const WIDEST_NAME = 40

/** The name in front of the first line, in a column as wide as the widest so far. */
function besideName(stream: string, [first = '', ...others]: readonly string[], width: number, paint: Paint): string[] {
  const name = visibleName(stream)
  const gap = ' '.repeat(Math.max(0, width - widthOf(name)) + 2)
  const indent = ' '.repeat(Math.max(width, widthOf(name)) + 2)
  return [paint(hueOf(stream), name) + gap + first, ...others.map(line => indent + line)]
}
