import type { Output } from '../../cli/output.ts'
import { UsageError } from '../../cli/problem.ts'
import { diffJson, diffLines, type StreamDifference } from '../../formats/stream/diff.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import { type ViewAt, viewNow } from '../../ops/view-at.ts'
import { differences } from '../../stream/journal/differences.ts'
import { visibleName } from '../../stream/text.ts'
import { lookOf, printDocuments } from './print.ts'

/** What has become of a stream from one version to another, or to now. @throws UsageError if the first is the later one */
export function differenceOf(view: StreamView, from: ViewAt, until: ViewAt | undefined): StreamDifference {
  const to = until ?? viewNow(view)
  if (from.past.length > to.past.length)
    throw new UsageError(`--diff: v${from.version} of ${view.name} is later than v${to.version}`, {
      hint: 'Give the earlier version to --diff and the later one to --at.',
    })
  const between = to.past.slice(from.past.length)
  const events = differences(from.document.events, to.document.events, between)
  return { name: view.name, from, to, events, between, nowMs: view.nowMs }
}

/** Prints differences one after the other. */
export async function printDifferences(
  all: readonly StreamDifference[],
  format: string | undefined,
  several: boolean,
  output: Output,
): Promise<void> {
  if (format === 'json' || format === 'yaml') await printDocuments(all.map(diffJson), format, several, output)
  else
    for (const [at, diff] of all.entries()) {
      const lines = diffLines(diff, lookOf(output))
      await output.lines(at === 0 ? lines : ['', ...lines])
    }
  for (const { name, from, events } of all)
    if (events.length === 0) await output.say(`${visibleName(name)}: nothing has changed since v${from.version}`)
}
