import type { Output } from '../../cli/output.ts'
import { jsonLine } from '../../formats/json.ts'
import { tableHeader, tableRows, tableWidths } from '../../formats/terminal/table.ts'
import { outcomeColumns } from './outcome-rows.ts'
import type { OutcomeWord } from './outcome-words.ts'
import { openProgress } from './progress.ts'
import { isProblem, type Result, resultJson, type Told, wordOf } from './result.ts'
import type { Target } from './targets.ts'
import { Chunks } from './write-buffer.ts'

/** Where the outcomes of a batch go as they come. */
export interface Report {
  readonly counts: ReadonlyMap<OutcomeWord, number>
  add(result: Result): void
  /** Resolves when all is printed. */
  end(): Promise<void>
}

interface Writer {
  write(results: readonly Result[]): Promise<void>
  end(): Promise<void>
}

/** Prints outcomes as `-o` says, in the order in which they come; `json` waits for all of them. */
export function openReport(targets: readonly Target[], told: Told, output: Output): Report {
  const { options, runtime } = told
  const counts = new Map<OutcomeWord, number>()
  const progress = openProgress(counts, targets.length, options, runtime)
  const writer = writerOf(targets, told, output)
  const chunks = new Chunks<Result>(results => progress.aside(() => writer.write(results)))
  return {
    counts,
    add(result) {
      const word = wordOf(result)
      counts.set(word, (counts.get(word) ?? 0) + 1)
      chunks.add(result)
    },
    async end() {
      await chunks.end()
      await progress.end()
      await writer.end()
    },
  }
}

function writerOf(targets: readonly Target[], told: Told, output: Output): Writer {
  const end = async () => {}
  if (told.options.output === 'json') return { write: end, end }
  if (told.options.output !== 'ndjson') return tableOf(targets, told, output)
  return { write: results => output.text(results.map(result => jsonLine(resultJson(result, told))).join('')), end }
}

function tableOf(targets: readonly Target[], told: Told, output: Output): Writer {
  const { columns, widths, row } = outcomeColumns(targets)
  const { quiet } = told.options
  let known: readonly number[] | undefined
  const print = async (results: readonly Result[]) => {
    const cells = results.map(result => row(result, told))
    const fitted = tableWidths(columns, cells, {
      atLeast: known ?? widths,
      ...(output.width === undefined ? {} : { width: output.width }),
    })
    const header = known === undefined ? [tableHeader(columns, fitted, output.paint)] : []
    known = fitted
    await output.lines([...header, ...tableRows(columns, cells, fitted, output.paint)])
  }
  return {
    async write(results) {
      // -q says only what went wrong
      const printed = quiet ? results.filter(({ outcome }) => isProblem(outcome)) : results
      if (printed.length > 0) await print(printed)
    },
    async end() {
      if (known === undefined && !quiet) await print([])
    },
  }
}
