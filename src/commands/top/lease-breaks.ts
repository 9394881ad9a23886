import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { ChangeTarget, Preview } from '../../tui/ports.ts'
import { visibleName } from '../../util/visible-text.ts'
import { type BatchPlan, makePlan } from '../batch/plan.ts'
import { nameToType, ROWS_SHOWN } from '../batch/preview.ts'
import { breakAction } from '../lease/break-lease.ts'
import { leaseLine } from '../lease/run.ts'
import { changeCommand, executor, type Prepared } from './changes.ts'

/** Inspects the leases of streams. Breaks only leases that are held then, and only if they are still the same. */
export async function prepareBreak(
  targets: readonly ChangeTarget[],
  opened: RuntimeStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Prepared> {
  const names = [...new Set(targets.map(({ stream }) => stream))]
  const events = new Map(names.map(name => [name, []] as const))
  const { store } = opened
  const action = breakAction(runtime)
  const request = {
    action,
    options: { names: [], by: runtime.actor },
    selection: { kind: 'names', names },
    eventsOf: undefined,
    leaveOut: true,
    keepRows: ROWS_SHOWN,
    runtime,
  } as const
  const plan = await makePlan(request, store, signal)
  const count = plan.jobs.length
  const only = count === 1 ? plan.jobs[0]?.targets[0]?.stream : undefined
  const what = only === undefined ? counted(count, 'stream') : visibleName(only)
  return {
    preview: {
      verb: 'break',
      question: count === 0 ? 'There is no lease to break' : action.question(what),
      lines: linesOf(names, plan, store.nowMs()),
      count,
      command: reason => changeCommand(action.name, events, { reason, reopensCanceled: false }, runtime),
      confirm: confirmOf(plan),
      takesReason: true,
    },
    execute: executor({ plan, events, reopensCanceled: false }, action, names.length > 1, opened, runtime),
  }
}

/** Requires typing the name of one stream, as the command does, or the number of several. */
function confirmOf(plan: BatchPlan): Preview['confirm'] {
  const name = nameToType(plan)
  return name === undefined
    ? { kind: 'type', text: String(plan.jobs.length), what: 'the number of leases' }
    : { kind: 'type', text: name, what: 'the name of the stream' }
}

function linesOf(names: readonly string[], plan: BatchPlan, nowMs: number): readonly string[] {
  const held = plan.jobs.length
  const { leftOut: free, rows, missing } = plan
  const more = held - rows.length
  return [
    ...rows.map(({ item: { listed } }) => leaseLine(listed, nowMs)),
    ...(more > 0 ? [`and ${countText(more)} more`] : []),
    ...(free > 0
      ? [free === names.length ? 'no lease is held' : `${counted(free, 'stream')} not leased, left out`]
      : []),
    ...(missing.length > 0 ? [`${counted(missing.length, 'stream')} no longer there`] : []),
    ...(held > 0 ? ['Unfinished work of the holder is lost: its next write is refused.'] : []),
  ]
}
