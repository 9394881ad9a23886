import type { RuntimeStore } from '../../cli/runtime.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { DashboardStore } from '../../tui/data/several-stores.ts'
import type { DryRun } from '../../tui/data/types.ts'
import type { ChangeEnd, ChangeTarget, ChangeVerb, CommandContext, Outcome, Ports, Preview } from '../../tui/ports.ts'
import { placeOf, streamKey } from '../../tui/store-key.ts'
import { visibleText } from '../../util/visible-text.ts'
import { confirmationFor } from '../batch/confirm.ts'
import type { LineRunner } from './command-prompt.ts'

/** One of several stores of the dashboard. */
export interface PortsOfStore extends Omit<DashboardStore, 'explain'> {
  readonly opened: RuntimeStore
  readonly ports: Ports
}

export interface SeveralPortsOptions {
  readonly lines: LineRunner
  readonly onSwitch: (contexts: string) => Promise<void>
  /** The command line for a list of the streams of all stores. */
  readonly listCommand: (subject: CommandContext) => string
}

type DoneDryRun = Extract<DryRun, { kind: 'done' }>

/** Several stores as one: each operation goes to the store of its stream. */
export function severalPorts(
  stores: readonly PortsOfStore[],
  { lines, onSwitch, listCommand }: SeveralPortsOptions,
): Ports {
  const [first] = stores
  if (first === undefined) throw new Error('no store was opened')
  const plans = new WeakMap<Preview, readonly StorePlan[]>()
  const guarded = stores.filter(({ opened }) => opened.isProtected)
  return {
    store: first.store,
    stores: stores.map(at => ({ ...at, explain: error => at.ports.explain(error) })),
    address: stores.map(({ context }) => context).join(', '),
    isProtected: guarded.length > 0,
    protectedName: guarded.map(({ context }) => context).join(','),
    settings: first.ports.settings,
    async preview(verb, targets, signal) {
      const chosen = targetsByStore(stores, targets)
      const made = await Promise.all(
        chosen.map(async ({ at, targets: own }) => ({ at, preview: await at.ports.preview(verb, own, signal) })),
      )
      const preview = previewOf(verb, made)
      plans.set(preview, made)
      return preview
    },
    async carryOut(preview, reason, onOutcome, signal) {
      const made = plans.get(preview)
      if (made === undefined) throw new Error('the change was not previewed here')
      return carryOutEach(made, reason, onOutcome, signal)
    },
    dryRun: signal => dryRunEach(stores, signal),
    runLine: (line, mayWrite, signal) => lines.run(line, mayWrite, signal),
    completeLine: (line, signal) => lines.complete(line, signal),
    switchStore: onSwitch,
    commandFor: subject => commandFor(subject, stores, listCommand),
    explain: error => first.ports.explain(error),
  }
}

/** The part of a change that is made in one store. */
interface StorePlan {
  readonly at: PortsOfStore
  readonly preview: Preview
}

function targetsByStore(stores: readonly PortsOfStore[], targets: readonly ChangeTarget[]) {
  return stores.flatMap(at => {
    const own = targets.flatMap(target => {
      const place = placeOf(target.stream)
      return place?.context === at.context ? [{ ...target, stream: place.stream }] : []
    })
    return own.length === 0 ? [] : [{ at, targets: own }]
  })
}

/** The previews of all stores as one; what is to be confirmed is as strict as in the strictest of them. */
function previewOf(verb: ChangeVerb, plans: readonly StorePlan[]): Preview {
  const [only, ...others] = plans
  if (only === undefined) throw new Error('a change of no store')
  if (others.length === 0) {
    const { at, preview } = only
    const { address, isProtected } = at.opened
    return {
      ...preview,
      question: `${preview.question} in ${at.context}`,
      place: { address: `${at.context}  ${visibleText(address)}`, isProtected },
    }
  }
  const made = plans.filter(({ preview }) => preview.count > 0)
  const count = made.reduce((sum, { preview }) => sum + preview.count, 0)
  const questions = (made.length === 0 ? plans : made).map(({ at, preview }) => `${preview.question} in ${at.context}`)
  const ofAll = (lines: (preview: Preview) => readonly string[]) =>
    plans.flatMap(({ at, preview }) => lines(preview).map(line => `${at.context}: ${line}`))
  return {
    verb,
    question: questions.map((text, at) => (at === 0 ? text : text.replace('This ', 'this '))).join('; '),
    affected: ofAll(({ affected }) => affected),
    more: plans.reduce((sum, { preview }) => sum + preview.more, 0),
    facts: ofAll(({ facts }) => facts),
    count,
    command: reason => made.map(({ preview }) => preview.command(reason)).join(' && '),
    confirm: confirmOf(made, count),
    place: {
      address: plans.map(({ at }) => at.context).join(', '),
      isProtected: plans.some(({ at }) => at.opened.isProtected),
    },
  }
}

function confirmOf(made: readonly StorePlan[], count: number): Preview['confirm'] {
  const isTyped = made.some(({ preview }) => preview.confirm.kind === 'type')
  const weight = { streams: count, isNamed: true, isProtected: isTyped, asksAlways: true, isTerminal: true }
  return confirmationFor(weight) === 'the number'
    ? { kind: 'type', text: String(count), what: 'the number of changes in all stores' }
    : { kind: 'yes' }
}

/** One store after the other. A store in which nothing could be started keeps no other from its changes. */
async function carryOutEach(
  plans: readonly StorePlan[],
  reason: string,
  onOutcome: (outcome: Outcome) => void,
  signal: AbortSignal,
): Promise<ChangeEnd> {
  const lines: string[] = []
  const faults: unknown[] = []
  const made = plans.filter(({ preview }) => preview.count > 0)
  for (const { at, preview } of made) {
    const { context, ports } = at
    if (signal.aborted) {
      lines.push(`${context}: not started; nothing was changed`)
      continue
    }
    try {
      const end = await ports.carryOut(preview, reason, outcome => onOutcome(keyed(context, outcome)), signal)
      lines.push(...end.lines.map(line => (made.length === 1 ? line : `${context}: ${line}`)))
    } catch (error) {
      faults.push(error)
      lines.push(`${context}: ${ports.explain(error).message}`)
    }
  }
  if (faults.length === made.length) throw faults[0]
  return { lines }
}

function keyed(context: string, outcome: Outcome): Outcome {
  const { target } = outcome
  return { ...outcome, target: { ...target, stream: streamKey(context, target.stream) } }
}

/** The passes of all stores. Those that could not be made are told. @throws if none could be made */
async function dryRunEach(stores: readonly PortsOfStore[], signal: AbortSignal): Promise<DoneDryRun> {
  const ends = await Promise.allSettled(stores.map(({ ports }) => ports.dryRun(signal)))
  const done: DoneDryRun[] = []
  const breakers: string[] = []
  const faults: string[] = []
  for (const [at, end] of ends.entries()) {
    const { context = '', ports = undefined } = stores[at] ?? {}
    if (end.status === 'rejected') {
      faults.push(`${context}: ${ports?.explain(end.reason).message ?? ''}`)
      continue
    }
    const { breaker, decisions } = end.value
    if (breaker !== undefined) breakers.push(`${context}: ${breaker}`)
    done.push({
      ...end.value,
      decisions: decisions.map(one => ({ ...one, stream: streamKey(context, one.stream) })),
    })
  }
  const failed = ends.find(end => end.status === 'rejected')
  if (done.length === 0 && failed !== undefined) throw failed.reason
  return {
    kind: 'done',
    atMs: Math.min(...done.map(({ atMs }) => atMs)),
    tookMs: Math.max(...done.map(({ tookMs }) => tookMs)),
    total: done.reduce((sum, { total }) => sum + total, 0),
    decisions: done.flatMap(({ decisions }) => decisions),
    breaker: breakers.length === 0 ? undefined : breakers.join('; '),
    ...(faults.length > 0 && { fault: `${counted(faults.length, 'store')} left out: ${faults.join('; ')}` }),
  }
}

function commandFor(
  subject: CommandContext,
  stores: readonly PortsOfStore[],
  listCommand: SeveralPortsOptions['listCommand'],
): string {
  if (subject.kind === 'streams') return listCommand(subject)
  if (subject.kind === 'stream' || subject.kind === 'event') {
    const place = placeOf(subject.stream)
    const at = stores.find(({ context }) => context === place?.context)
    return at === undefined || place === undefined ? '' : at.ports.commandFor({ ...subject, stream: place.stream })
  }
  if (subject.kind === 'subscriptions' && subject.store !== undefined) {
    const { store, stream } = subject
    const at = stores.find(({ context }) => context === store)
    const inStore = stream === undefined ? undefined : placeOf(stream)?.stream
    return at?.ports.commandFor({ ...subject, ...(inStore !== undefined && { stream: inStore }) }) ?? ''
  }
  if (subject.kind === 'inboxes' && subject.store !== undefined) {
    return stores.find(({ context }) => context === subject.store)?.ports.commandFor(subject) ?? ''
  }
  // The command of the activity does not end.
  const between = subject.kind === 'activity' ? ' & ' : ' && '
  return stores.map(({ ports }) => ports.commandFor(subject)).join(between)
}
