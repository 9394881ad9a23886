import { commandLine, type Started } from '../../cli/command-line.ts'
import { readContexts } from '../../cli/contexts/contexts.ts'
import { errorProblem, withoutSecrets } from '../../cli/error-problem.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { checkMayChange } from '../../cli/store.ts'
import { readWatchdogState } from '../../ops/watchdog-state/parse.ts'
import { commonSettings } from '../../ops/watchdog-state/state.ts'
import type { StreamStore } from '../../store/store.ts'
import type { PlannedDecision } from '../../tui/data/types.ts'
import type { ChangeTarget, ChangeVerb, CommandContext, Ports, Preview } from '../../tui/ports.ts'
import { defined } from '../../util/defined.ts'
import { commandWords } from '../../util/strings.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { WatchdogDecision } from '../../watchdog/decision.ts'
import { runOnce } from '../../watchdog/pass.ts'
import type { Observer } from '../../watchdog/report.ts'
import { breakerText } from '../watchdog/once.ts'
import { watchdogOptions } from '../watchdog/run.ts'
import { readSettings } from '../watchdog/settings.ts'
import { type Prepared, prepareChange } from './changes.ts'
import { LineRunner, Writing } from './command-prompt.ts'
import type { ProgramRuntime } from './dashboard.ts'
import { isDeliveryVerb, prepareDeliveries } from './deliveries.ts'
import { prepareBreak } from './lease-breaks.ts'
import { listCommand } from './list-command.ts'
import { settingsFile } from './settings.ts'

export interface PortsOptions {
  /** The filters of the command line. */
  readonly filterArgv?: readonly string[]
  /** Changes can be unlocked. */
  readonly mayUnlock: boolean
  /** Opens the stores of one or several contexts, to be shown when this dashboard has ended. */
  readonly onSwitch: (contexts: string) => Promise<void>
  /** Shared by the stores of one dashboard. */
  readonly writing?: Writing
  /** Receives the outcome of a stopped change in safe lines, because the screen may already be gone. */
  readonly onStopped?: (lines: readonly string[]) => void
}

/** The operations of the dashboard, done by the code of the commands. */
export function portsOf(
  opened: RuntimeStore,
  { filterArgv = [], mayUnlock, onSwitch, onStopped = () => {}, ...shared }: PortsOptions,
  runtime: ProgramRuntime,
): Ports {
  const prepared = new WeakMap<Preview, Prepared>()
  const { writing = new Writing(runtime) } = shared
  const lines = new LineRunner([opened], { mayUnlock, writing, onStopped }, runtime)
  const { store, address, isProtected } = opened
  return {
    store,
    address,
    isProtected,
    protectedName: protectedName(opened, runtime),
    settings: settingsFile(runtime),
    async preview(verb, targets, signal) {
      await checkMayChange(opened)
      const change = await prepare(verb, targets, opened, runtime, signal)
      prepared.set(change.preview, change)
      return change.preview
    },
    async carryOut(preview, reason, onOutcome, signal, given) {
      const change = prepared.get(preview)
      if (change === undefined) throw new Error('the change was not previewed here')
      return writing.during(() => reportingStop(change, onStopped)(reason, onOutcome, signal, given))
    },
    dryRun: signal => dryRun(store, runtime, signal),
    runLine: (line, mayWrite, signal) => lines.run(line, mayWrite, signal),
    completeLine: (line, signal) => lines.complete(line, signal),
    switchStore: onSwitch,
    commandFor: subject => commandFor(subject, filterArgv, runtime),
    explain: error => explain(error, runtime),
  }
}

function prepare(
  verb: ChangeVerb,
  targets: readonly ChangeTarget[],
  opened: RuntimeStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Prepared> {
  if (verb === 'break') return prepareBreak(targets, opened, runtime, signal)
  if (isDeliveryVerb(verb)) return prepareDeliveries(verb, targets, opened, runtime, signal)
  return prepareChange(verb, targets, opened, runtime, signal)
}

/** Executes a change, and reports how it ended if it was stopped; for a single target with its outcome. */
function reportingStop(
  { preview: { verb, count }, execute }: Prepared,
  onStopped: (lines: readonly string[]) => void,
): Prepared['execute'] {
  return async (reason, onOutcome, signal, given) => {
    const outcomes: string[] = []
    const end = await execute(
      reason,
      outcome => {
        if (count === 1) outcomes.push(`${visibleName(outcome.target.stream)}  ${outcome.text}`)
        onOutcome(outcome)
      },
      signal,
      given,
    )
    if (signal.aborted) onStopped([`${verb} was stopped`, ...outcomes, ...end.lines])
    return end
  }
}

/** The name of the context that protects the store, or the address if it is unknown. */
function protectedName({ context, address }: RuntimeStore, { env }: Runtime): string {
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

/** The command line for what the dashboard shows. @param filters those of `top` */
export function commandFor(subject: CommandContext, filters: readonly string[], runtime: Started): string {
  switch (subject.kind) {
    case 'streams':
      return listText(subject, filters, runtime)
    case 'stream': {
      const format = { tree: [], timeline: ['-o', 'timeline'], xml: ['-o', 'xml'] }[subject.pane]
      return commandLine(runtime, commandWords(['show'], [subject.stream], format))
    }
    case 'event': {
      const select = ['--select', `./Event[@id=${xpathText(subject.event)}]`]
      return commandLine(runtime, commandWords(['show'], [subject.stream], select))
    }
    case 'leases':
      return commandLine(runtime, ['lease', 'ls'])
    case 'watchdog':
      return commandLine(runtime, ['watchdog', 'status'])
    case 'activity':
      return commandLine(runtime, ['tail', '-f', ...filters])
    case 'workers':
      return commandLine(runtime, ['workers', '--events', ...filters])
    case 'subscriptions': {
      const { subscription, stream } = subject
      if (subscription === undefined) return commandLine(runtime, ['subscription', 'ls'])
      if (stream === undefined) return commandLine(runtime, ['subscription', 'show', subscription])
      return commandLine(runtime, commandWords(['subscription', 'retry'], [subscription, stream], []))
    }
    case 'inboxes':
      return commandLine(runtime, subject.inbox === undefined ? ['inbox', 'ls'] : ['inbox', 'show', subject.inbox])
    default:
      return subject satisfies never
  }
}

function listText(
  { filter, onlyBroken }: Extract<CommandContext, { kind: 'streams' }>,
  filters: readonly string[],
  runtime: Started,
): string {
  const { flags, rest } = listCommand(filter)
  const broken = onlyBroken ? '  # all, not only the broken ones' : ''
  return `${commandLine(runtime, ['ls', ...filters, ...flags])}${rest}${broken}`
}

/** A text in XPath, which has no escapes: one with both quotes is concatenated. */
function xpathText(text: string): string {
  if (!text.includes("'")) return `'${text}'`
  if (!text.includes('"')) return `"${text}"`
  return `concat(${text
    .split("'")
    .map(part => `'${part}'`)
    .join(`, "'", `)})`
}

/** Number of decisions to list; all are counted. */
const MAX_DECISIONS = 1_000

/** The decisions of `watchdog --once --dry-run`, with the settings of the watchdogs that run. Changes nothing. */
async function dryRun(store: StreamStore, runtime: Runtime, signal: AbortSignal): ReturnType<Ports['dryRun']> {
  const decisions: PlannedDecision[] = []
  let total = 0
  const observer: Observer = {
    planned(decision) {
      if (total++ < MAX_DECISIONS) decisions.push(plannedOf(decision))
    },
  }
  const { onDue, match } = commonSettings(await readWatchdogState(store, signal), store.nowMs())
  const settings = await readSettings({ onDue, ...defined({ match }) })
  const options = { ...watchdogOptions(settings, store, runtime), observers: [observer] }
  const report = await runOnce(store, options, { isDryRun: true, signal })
  const breaker = report.breaker.isOpen ? breakerText(report) : undefined
  return { kind: 'done', atMs: report.startedMs, tookMs: report.tookMs, total, decisions, breaker }
}

function plannedOf(decision: WatchdogDecision): PlannedDecision {
  const { stream } = decision
  if (decision.kind === 'settle') return { stream, action: 'settle', ends: 0 }
  const { kind: action, event, name, limit, dueMs, ends } = decision
  return { stream, action, event, name, kind: limit, dueMs, ends }
}
