import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { ChangeTarget, Preview } from '../../tui/ports.ts'
import { visibleName } from '../../util/visible-text.ts'
import { type BatchPlan, makePlan } from '../batch/plan.ts'
import { nameToType } from '../batch/preview.ts'
import { breakAction } from '../lease/break-lease.ts'
import { leaseLine } from '../lease/run.ts'
import { changeCommand } from './change-command.ts'
import { executor, type Prepared, ROWS_LISTED } from './changes.ts'

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
    keepRows: ROWS_LISTED,
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
      affected: plan.rows.map(({ item: { listed } }) => leaseLine(listed, store.nowMs())),
      more: count - plan.rows.length,
      facts: factsOf(names, plan),
      count,
      command: reason => changeCommand(action.name, events, { reason, reopensCanceled: false }, runtime),
      confirm: confirmOf(plan),
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

/** What is left out, and what follows. Safe to print. */
function factsOf(names: readonly string[], { leftOut: free, missing, jobs: { length: held } }: BatchPlan) {
  return [
    ...(free > 0
      ? [free === names.length ? 'no lease is held' : `${counted(free, 'stream')} not leased, left out`]
      : []),
    ...(missing.length > 0 ? [`${counted(missing.length, 'stream')} no longer there`] : []),
    ...(held > 0 ? ['Unfinished work of the holder is lost: its next write is refused.'] : []),
  ]
}
