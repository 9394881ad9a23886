import { readContexts } from '../../cli/contexts/file.ts'
import { errorProblem } from '../../cli/error-problem.ts'
import type { OpenedStore, Runtime } from '../../cli/runtime.ts'
import { withoutSecrets } from '../../cli/without-secrets.ts'
import { visibleName, visibleText } from '../../stream/text.ts'
import type { ChangeEnd, Outcome, Ports, Preview } from '../../tui/ports.ts'
import { prepareChange } from './changes.ts'
import { LineRunner } from './command-prompt.ts'
import { dryRun } from './dry-run.ts'
import { commandFor } from './for.ts'
import { prepareBreak } from './lease-breaks.ts'
import type { Prepared } from './prepared.ts'
import { Writing } from './writing.ts'

export interface PortsOptions {
  /** The pattern that `--match` gave. */
  readonly match?: string
  /** Changes can be unlocked. */
  readonly mayUnlock: boolean
  /** Called with how a change ended that was stopped, in safe lines: the screen may be gone by then. */
  readonly onStopped?: (lines: readonly string[]) => void
}

/** What the dashboard may do, by the code of the commands. */
export function portsOf(
  opened: OpenedStore,
  { match, mayUnlock, onStopped = () => {} }: PortsOptions,
  runtime: Runtime,
): Ports {
  const prepared = new WeakMap<Preview, Prepared>()
  const writing = new Writing(runtime)
  const lines = new LineRunner(opened, { mayUnlock, writing, onStopped }, runtime)
  const { store, address, isProtected } = opened
  return {
    store,
    address,
    isProtected,
    protectedName: protectedName(opened, runtime),
    async preview(verb, targets, signal) {
      const change =
        verb === 'break'
          ? await prepareBreak(targets, opened, runtime, signal)
          : await prepareChange(verb, targets, opened, runtime, signal)
      prepared.set(change.preview, change)
      return change.preview
    },
    async carryOut(preview, reason, onOutcome, signal) {
      const change = prepared.get(preview)
      if (change === undefined) throw new Error('what is to be done was not previewed here')
      return writing.during(() => watched(change, onStopped).carryOut(reason, onOutcome, signal))
    },
    dryRun: signal => dryRun(store, runtime, signal),
    runLine: (line, mayWrite, signal) => lines.run(line, mayWrite, signal),
    commandFor: subject => commandFor(subject, match, runtime),
    explain: error => explain(error, runtime),
  }
}

/** The change, which tells how it ended if it was stopped; of a single one also what became of it. */
function watched({ preview, carryOut }: Prepared, onStopped: (lines: readonly string[]) => void) {
  const { verb, count } = preview
  return {
    async carryOut(reason: string, onOutcome: (outcome: Outcome) => void, signal: AbortSignal): Promise<ChangeEnd> {
      const told: string[] = []
      const end = await carryOut(
        reason,
        outcome => {
          if (count === 1) told.push(`${visibleName(outcome.target.stream)}  ${outcome.text}`)
          onOutcome(outcome)
        },
        signal,
      )
      if (signal.aborted) onStopped([`${verb} was stopped`, ...told, ...end.lines])
      return end
    },
  }
}

/** The name of the context that protects the store; its address where it cannot be told. */
function protectedName({ context, address }: OpenedStore, { env }: Runtime): string {
  if (context !== undefined) return context
  try {
    const contexts = [...readContexts(env).byName.values()]
    return contexts.find(({ isProtected, store }) => isProtected && store === address)?.name ?? address
  } catch {
    return address
  }
}

function explain(error: unknown, runtime: Runtime): { readonly code: string; readonly message: string } {
  const { code, message, hint } = errorProblem(error, runtime)
  const text = code === 'unexpected' || hint === undefined ? message : `${message}; ${hint}`
  return { code, message: visibleText(withoutSecrets(text)) }
}
