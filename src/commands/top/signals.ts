import { readData } from '../../cli/data.ts'
import { dataSource } from '../../cli/data-flags.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { gatedEvents } from '../../ops/open-events.ts'
import type { Summary } from '../../stream/summary.ts'
import type { SignalText } from '../../tui/ports.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { BatchCommandOptions } from '../batch/options.ts'

/** The signals that events of these streams wait for, those that most wait for first. */
export function awaitedIn(summaries: readonly (Summary | undefined)[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const summary of summaries) {
    for (const { name } of awaited(summary)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name)
}

/** `approve for 01.02 Ship, paid for 01.03`: which signals events of the stream wait for. Safe to print. */
export function awaitedText(summary: Summary | undefined): string {
  const all = awaited(summary)
  if (all.length === 0) return 'nothing waits for a signal: it is kept'
  const more = all.length > MOST_NAMED ? ` +${all.length - MOST_NAMED}` : ''
  const named = all.slice(0, MOST_NAMED).map(({ name, event }) => visibleText(`${name} for ${event}`))
  return `waits: ${named.join(', ')}${more}`
}

const MOST_NAMED = 5

function awaited(summary: Summary | undefined): readonly { readonly name: string; readonly event: string }[] {
  return gatedEvents(summary).flatMap(({ id, name, waitsFor }) =>
    waitsFor.kind === 'signal' ? [{ name: waitsFor.name, event: `${id} ${name}`.trim() }] : [],
  )
}

/** The options of the command for a typed signal. @throws UsageError if its data cannot be read */
export async function readSignal(
  { name, data }: SignalText,
  runtime: Runtime,
): Promise<Pick<BatchCommandOptions, 'signalName' | 'input'>> {
  if (data === '') return { signalName: name }
  const source = dataSource('--data')(data)
  if (source.kind === 'stdin') {
    throw new UsageError('the dashboard has no standard input for the data', { hint: 'Type a text, or @FILE.' })
  }
  const read = await readData({ data: source }, runtime)
  return { signalName: name, ...(read.data && { input: read.data }) }
}
