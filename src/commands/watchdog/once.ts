import { errorProblem } from '../../cli/error-problem.ts'
import { type Output, tableWriter } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument, jsonTime } from '../../formats/json.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { StreamStore } from '../../store/store.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { machineTiming } from '../../util/clock.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { DecisionOutcome } from '../../watchdog/decision.ts'
import type { HookFeed } from '../../watchdog/hooks/hooks.ts'
import { paceText } from '../../watchdog/hooks/lag.ts'
import type { WatchdogOptions } from '../../watchdog/options.ts'
import { runOnce } from '../../watchdog/pass.ts'
import type { Observer, PassReport } from '../../watchdog/report.ts'
import { decisionColumns, decisionJson, decisionRow, type ReportedDecision } from './decisions.ts'
import { hookTargets } from './hook-targets.ts'
import { HOOKS_DRAIN_MS, watchdogHooks } from './hooks.ts'
import { deliveryEntry } from './log/entries.ts'
import { overruleCommand } from './overrule.ts'
import { purgeOnce, purgeOptions, purgeText } from './purge.ts'
import type { Settings, WatchdogCommandOptions } from './settings.ts'

/** How long a failing delivery is retried before it is left to the next run, ms: a user waits. */
const RETRY_FOR_MS = 60_000

/** Outcomes of decisions that failed; repeating the command may carry them out. */
const NOT_DONE: readonly DecisionOutcome[] = ['busy', 'refused', 'failed', 'unknown']

/** Runs one pass, or shows what it would do: a row for each decision, then a summary. */
export async function watchOnce(
  store: StreamStore,
  options: WatchdogCommandOptions,
  watchdog: WatchdogOptions,
  settings: Settings,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { dryRun: isDryRun = false } = options
  let givenUp = 0
  const hooks = isDryRun ? undefined : await hooksOf(store, watchdog, settings, output, runtime, () => givenUp++)
  const reported: ReportedDecision[] = []
  const recorder: Observer = {
    planned: decision => void reported.push({ decision }),
    executed: carried => void reported.push(carried),
  }
  const observers = hooks === undefined ? [recorder] : [recorder, hooks]
  const once = { ...watchdog, observers, wantsMoved: hooks !== undefined }
  const report = await runOnce(store, once, { isDryRun, signal: runtime.signal })
  // What the pass has ended is told also if the purge fails.
  let purgeFault: LeasectlError | undefined
  const purging = purgeOnce(store, purgeOptions(settings, watchdog, runtime), isDryRun, runtime)
  const purged = await purging.catch(error => {
    if (!(error instanceof LeasectlError)) throw error
    purgeFault = error
    return undefined
  })
  await hooks?.idle()
  await hooks?.drain(0)
  if (options.output === 'json') {
    await output.text(
      jsonDocument({
        items: reported.map(decisionJson),
        dryRun: isDryRun,
        pass: passJson(report),
        purge: purged ?? null,
      }),
    )
  } else {
    await printTable(reported, isDryRun, store, output)
    for (const line of sentences(report, reported, isDryRun)) await output.say(line)
    if (purged !== undefined) await output.say(purgeText(purged, isDryRun))
  }
  if (purgeFault !== undefined) return purgeProblem(purgeFault, report, runtime)
  return isDryRun
    ? undefined
    : problemOf(report, { givenUp, left: hooks?.left ?? 0 }, overruleCommand(options, runtime))
}

/** Hooks receive everything since the last pass with hooks, whoever made it; the command waits for their deliveries. */
async function hooksOf(
  store: StreamStore,
  { by, timing = machineTiming }: WatchdogOptions,
  settings: Settings,
  output: Output,
  runtime: Runtime,
  onGivenUp: () => void,
): Promise<HookFeed | undefined> {
  const { hooks, warnings } = await hookTargets(settings, runtime.env)
  for (const warning of warnings) await output.say(`warning: ${warning}`)
  if (hooks === undefined) return undefined
  const feed = watchdogHooks(store, hooks, runtime, {
    by,
    match: settings.match,
    onDelivery: report => {
      const { level, text } = deliveryEntry(report)
      if (level !== 'debug') void output.say(visibleText(`${report.stream}: ${text}`))
      if (report.outcome === 'given-up') onGivenUp()
    },
    onTrouble: message => void output.say(visibleText(message)),
    onPace: pace => void output.say(paceText(pace)),
    limits: { retryForMs: RETRY_FOR_MS },
    timing,
  })
  runtime.signal.addEventListener('abort', () => void feed.drain(HOOKS_DRAIN_MS), { once: true })
  return feed
}

async function printTable(
  reported: readonly ReportedDecision[],
  isDryRun: boolean,
  store: StreamStore,
  output: Output,
): Promise<void> {
  const table = tableWriter(decisionColumns(isDryRun), output)
  if (reported.length > 0) await table.write(reported.map(each => decisionRow(each, store.nowMs())))
  await table.end()
}

function* sentences(report: PassReport, reported: readonly ReportedDecision[], isDryRun: boolean): Generator<string> {
  const watched = counted(report.watched, 'stream')
  // The report counts what is open after the pass.
  const before = counted(report.openEvents + report.endedEvents, 'open event')
  const would = reported.reduce((sum, { decision }) => sum + (decision.kind === 'settle' ? 0 : decision.ends), 0)
  if (isDryRun)
    yield `${watched}: would end ${countText(would)} of ${before}; nothing was changed. One observation; the clock alone decides`
  else yield `${watched}: ended ${countText(report.endedEvents)} of ${before}. One observation; the clock alone decides`
  for (const { stream, message } of report.unreadable)
    yield `unreadable: ${visibleName(stream)}: ${visibleText(message)}`
  if (report.deferred > 0)
    yield `${counted(report.deferred, 'decision')} deferred to the next pass: over --max-per-pass, or in a stream that could not be changed`
  if (isDryRun && report.breaker.isOpen) yield `the circuit breaker would stop this pass: ${breakerText(report)}`
}

function purgeProblem(fault: LeasectlError, { endedEvents }: PassReport, runtime: Runtime): Problem {
  if (endedEvents === 0) return errorProblem(fault, runtime)
  return problem('batch-incomplete', `the purge failed: ${fault.message}`, { applied: 'yes', cause: fault })
}

function problemOf(
  report: PassReport,
  hooks: { readonly givenUp: number; readonly left: number },
  overrule: string,
): Problem | undefined {
  if (report.breaker.isOpen) {
    return problem('breaker-open', `no event was ended: ${breakerText(report)}`, {
      hint: 'Check workers and clocks first; --dry-run lists all overdue events. To end all of them:',
      tryCommand: overrule,
    })
  }
  const left = NOT_DONE.reduce((sum, outcome) => sum + (report.outcomes[outcome] ?? 0), 0)
  const parts = [
    ...(left === 0 ? [] : [`${counted(left, 'decision')} could not be carried out`]),
    ...(hooks.givenUp === 0 ? [] : [`hooks failed for good: ${counted(hooks.givenUp, 'delivery', 'deliveries')}`]),
    ...(hooks.left === 0 ? [] : [`hooks: ${counted(hooks.left, 'delivery', 'deliveries')} left for the next run`]),
  ]
  if (parts.length === 0) return undefined
  return problem('batch-incomplete', parts.join('; '), { applied: report.endedEvents > 0 ? 'yes' : 'no' })
}

/** `12 of 40 open events (30%) are due, more than 20%` */
export function breakerText({ breaker }: PassReport): string {
  const { wouldEnd, openEvents, maxShare } = breaker
  const share = openEvents === 0 ? 100 : Math.round((wouldEnd / openEvents) * 100)
  return `${countText(wouldEnd)} of ${counted(openEvents, 'open event')} (${share}%) are due, more than ${Math.round(maxShare * 100)}%`
}

/** A pass as JSON. Durations in whole ms. */
function passJson(report: PassReport): object {
  const { breaker } = report
  return {
    kind: report.kind,
    started: jsonTime(report.startedMs),
    tookMs: Math.round(report.tookMs),
    streams: report.streams,
    total: report.total,
    watched: report.watched,
    openEvents: report.openEvents,
    overdue: report.overdue,
    documents: report.documents,
    outcomes: report.outcomes,
    endedEvents: report.endedEvents,
    deferred: report.deferred,
    breaker: {
      open: breaker.isOpen,
      wouldEnd: breaker.wouldEnd,
      openEvents: breaker.openEvents,
      maxShare: breaker.maxShare,
    },
    next: report.next.map(({ stream, dueMs }) => ({ stream, due: jsonTime(dueMs) })),
    unreadable: report.unreadable,
    skewMs: Math.round(report.skewMs),
  }
}
