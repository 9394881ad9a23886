import type { GlobalOptions } from '../../cli/options.ts'
import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { Transferred } from './outcome.ts'
import { isForPrograms, printer, type ReportFormat } from './report-printer.ts'
import { Tally } from './tally.ts'

/** Where the outcomes of streams go, one by one. */
export interface TransferReport {
  add(outcome: Transferred): Promise<void>
  /** @param stopped why it ended before its end, if it did */
  end(stopped?: Problem): Promise<Problem | undefined>
}

const PROGRESS_MS = 100

export function openReport(
  format: ReportFormat,
  options: GlobalOptions,
  output: Output,
  runtime: Runtime,
): TransferReport {
  const tally = new Tally()
  const print = printer(format, options, output)
  const progress = openProgressLine(options, runtime, !runtime.stdout.isTty)
  /** Held back until there is a second one: of a single stream the problem is printed at the end, as every error is. */
  let only: Transferred | undefined
  let shownMs = 0
  return {
    async add(outcome) {
      tally.add(outcome)
      if (tally.total === 1) {
        only = outcome
        return
      }
      if (only !== undefined) await print.add(only)
      only = undefined
      await print.add(outcome)
      if (runtime.nowMs() - shownMs < PROGRESS_MS) return
      shownMs = runtime.nowMs()
      await progress.show(tally.sentence)
    },
    async end(stopped) {
      await progress.clear()
      const single = only?.problem
      if (only !== undefined && (single === undefined || isForPrograms(format))) await print.add(only)
      await print.end(tally)
      if (tally.total > 1) await output.say(tally.sentence)
      if (stopped !== undefined) return tally.stoppedBy(stopped)
      return single ?? tally.incomplete(runtime)
    },
  }
}
