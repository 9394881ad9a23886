import { visibleText } from '../../stream/texts.ts'
import type { Ports, Preview } from '../../tui/ports.ts'
import { readContexts } from '../context/contexts-file.ts'
import { errorProblem } from '../error-problem.ts'
import type { OpenedStore, Runtime } from '../runtime.ts'
import { withoutSecrets } from '../watchdog/log-secrets.ts'
import { prepareBreak } from './breaks.ts'
import { prepareChange } from './changes.ts'
import { commandFor } from './command-for.ts'
import { dryRun } from './dry-run.ts'
import type { Prepared } from './prepared.ts'
import { LineRunner } from './run-line.ts'

export interface PortsOptions {
  /** The pattern that `--match` gave. */
  readonly match?: string
  /** Changes can be unlocked. */
  readonly mayUnlock: boolean
}

/** What the dashboard may do, by the code of the commands. */
export function portsOf(opened: OpenedStore, { match, mayUnlock }: PortsOptions, runtime: Runtime): Ports {
  const prepared = new WeakMap<Preview, Prepared>()
  const lines = new LineRunner(opened, mayUnlock, runtime)
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
      // a reader of stdout that goes away does not end what changes something
      const { kind } = runtime
      runtime.begin('writes')
      try {
        return await change.carryOut(reason, onOutcome, signal)
      } finally {
        runtime.begin(kind)
      }
    },
    dryRun: signal => dryRun(store, runtime, signal),
    runLine: (line, mayWrite, signal) => lines.run(line, mayWrite, signal),
    commandFor: subject => commandFor(subject, match, runtime),
    explain: error => explain(error, runtime),
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
