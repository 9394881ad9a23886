import { isPattern, missingEventProblem, missingProblem, outcomeProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { streamStateOf } from '../../formats/listing/health.ts'
import { isAcknowledged } from '../../ops/filter.ts'
import { type StreamView, viewOf } from '../../ops/read-stream.ts'
import { summarizeStored, summaryOf } from '../../ops/read-summary.ts'
import { type Selection, selected } from '../../ops/selection.ts'
import { type SummarizedStream, summaries } from '../../ops/summaries.ts'
import { BadName } from '../../store/errors.ts'
import { checkReadableName } from '../../store/names.ts'
import type { LeaseView, StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { isFailed, isFinal } from '../../stream/event.ts'
import type { Precondition } from '../../stream/operations/apply.ts'
import type { Refusal } from '../../stream/operations/operation.ts'
import { isHeldStream, isSuspended } from '../../stream/state.ts'
import { readAhead } from '../../util/concurrency.ts'
import { type BatchAction, type Done, isProblem, type Target, targetsOf } from './action.ts'
import type { SignedOptions, TargetState } from './options.ts'
import type { Resume } from './resume.ts'

/** A stream with the targets to change in it, in order. */
export interface BatchJob {
  readonly targets: readonly Target[]
  /** The inspected state. */
  readonly pin: Precondition
  readonly etag: string
  readonly version: number | undefined
  readonly lease: LeaseView
}

/** A target in the preview. */
export interface PreviewRow {
  readonly target: Target
  readonly item: SummarizedStream
  /** The state of the stream as listings show it; of an event its status. */
  readonly state: string
  /** Number of open events below it. */
  readonly openBelow: number
  /** Why it is not tried. */
  readonly objection: Done | Problem | undefined
  /** Events that would not be changed although the target is. */
  readonly refused: readonly Refusal[]
}

export interface Settled {
  readonly target: Target
  readonly outcome: Done | Problem
  /** The incarnation id of the stream, to recognise another stream of the same name later. */
  readonly born: string | undefined
}

export interface BatchPlan {
  /** All targets that get an outcome, in the order of the selection. */
  readonly targets: readonly Target[]
  readonly jobs: readonly BatchJob[]
  /** Targets that are not tried, with their outcomes. */
  readonly settled: readonly Settled[]
  /** Streams and events that do not exist. */
  readonly missing: readonly Problem[]
  /** Number of streams or events that match but are left out. */
  readonly leftOut: number
  /** Their number by reason. */
  readonly leftOutBecause: ReadonlyMap<string, number>
  /** Events that streams to be changed would not change, by code of the refusal. */
  readonly refusedEvents: ReadonlyMap<string, number>
  /** The first targets. */
  readonly rows: readonly PreviewRow[]
  /** Number of targets to try, by state. */
  readonly byState: ReadonlyMap<string, number>
}

export interface PlanRequest {
  readonly action: BatchAction
  readonly options: SignedOptions
  readonly selection: Selection
  /** The events to change in a stream; none for the whole stream. `undefined` if all targets are whole streams. */
  readonly eventsOf: ((stream: string) => readonly string[]) | undefined
  /** Leave out streams whose state makes the action pointless. */
  readonly leaveOut: boolean
  /** The rest of an earlier run, which selected its streams then. */
  readonly resume?: Resume | undefined
  /** The command id of each target; without it, a new one. */
  readonly commandIdOf?: (target: Target) => string
  /** Number of rows kept for the preview. */
  readonly keepRows: number
  readonly runtime: Runtime
}

/** Inspects all selected streams before any change. */
export async function makePlan(request: PlanRequest, store: StreamStore, signal: AbortSignal): Promise<BatchPlan> {
  const draft = new PlanDraft(request)
  for await (const { found, missing } of inspect(store, request, signal)) {
    for (const name of missing) draft.addMissing(name)
    for (const one of found) draft.add(one)
  }
  return draft
}

class PlanDraft implements BatchPlan {
  readonly targets: Target[] = []
  readonly jobs: BatchJob[] = []
  readonly settled: Settled[] = []
  readonly missing: Problem[] = []
  readonly rows: PreviewRow[] = []
  readonly byState = new Map<string, number>()
  readonly leftOutBecause = new Map<string, number>()
  readonly refusedEvents = new Map<string, number>()
  readonly #request: PlanRequest

  constructor(request: PlanRequest) {
    this.#request = request
  }

  get leftOut(): number {
    return this.leftOutBecause.values().reduce((sum, count) => sum + count, 0)
  }

  addMissing(stream: string): void {
    const { action, resume } = this.#request
    const outcome = badNameProblem(stream) ?? (resume || action.isRepeated ? action.gone : undefined)
    const target = { stream, event: undefined }
    if (outcome === undefined) this.missing.push(missingProblem(stream))
    else {
      this.targets.push(target)
      this.settled.push({ target, outcome, born: resume?.bornOf(stream) })
    }
  }

  add(one: Inspected): void {
    const { action, options, eventsOf, resume } = this.#request
    const { item } = one
    const stream = item.listed.name
    const wanted = eventsOf?.(stream) ?? []
    const objection = resume?.objection(item) ?? action.objection(item, options)
    const isThere = (event: string) => objection !== undefined || one.view?.stream.find(event) !== undefined
    const events = wanted.filter(isThere)
    for (const event of wanted) if (!isThere(event)) this.missing.push(missingEventProblem(stream, event))
    // without this, no events would mean the whole stream
    if (wanted.length > 0 && events.length === 0) return
    const trial = objection === undefined ? trialOf(one, this.#request) : undefined
    const targets = targetsOf(stream, events).filter(target => this.#isToChange(one, target, objection, trial))
    if (targets.length > 0) this.jobs.push(jobOf(item, targets))
  }

  #isToChange(one: Inspected, target: Target, fault: Done | Problem | undefined, trial: Trial | undefined): boolean {
    const { keepRows, resume } = this.#request
    const state = stateOf(one, target.event)
    const isRefused = fault !== undefined && isProblem(fault)
    const because = isRefused ? undefined : whyLeftOut(state, this.#request)
    if (because !== undefined) return this.#leaveOut(because)
    const { refusal, refused = [] } = trial?.(target) ?? {}
    if (refusal !== undefined && this.#request.leaveOut) return this.#leaveOut(`refused (${refusal.code})`)
    const objection = fault ?? (refusal && this.#problemOf(target, refusal))
    this.targets.push(target)
    const shown = this.#shownState(one, target, state)
    if (this.rows.length < keepRows) {
      this.rows.push({ target, item: one.item, state: shown, openBelow: state.openBelow, objection, refused })
    }
    if (objection === undefined) {
      addOne(this.byState, shown)
      for (const { code } of refused) addOne(this.refusedEvents, code)
      return true
    }
    const born = resume?.bornOf(target.stream) ?? one.item.pin.ifBorn
    const outcome = isProblem(objection) ? { ...objection, ...eventOf(target) } : objection
    this.settled.push({ target, outcome, born })
    return false
  }

  #shownState({ item: { summary } }: Inspected, { event }: Target, { status }: TargetState): string {
    if (event !== undefined || summary === undefined) return status
    return streamStateOf(summary, this.#request.runtime.nowMs())
  }

  #leaveOut(because: string): false {
    addOne(this.leftOutBecause, because)
    return false
  }

  #problemOf(target: Target, refusal: Refusal): Problem {
    const outcome = { kind: 'refused', refusal, commandId: TRIAL_ID } as const
    // Nothing was sent under the id of the trial.
    const { commandId: _, ...found } = outcomeProblem(target.stream, outcome, TRIAL_ID, this.#request.runtime)
    return found
  }
}

/** A command id that no journal has. */
const TRIAL_ID = 'leasectl:trial'

/** Tries the change of a target after those of the targets before it. */
type Trial = (target: Target) => { readonly refusal?: Refusal; readonly refused?: readonly Refusal[] }

/** `undefined` without the document, or for an action whose refusals are not known before it runs. */
function trialOf(
  { view }: Inspected,
  { action, options, commandIdOf = () => TRIAL_ID }: PlanRequest,
): Trial | undefined {
  const { trial } = action
  if (trial === undefined || view === undefined) return undefined
  let { document } = view
  return target => {
    const result = trial({ target, commandId: commandIdOf(target), document, view, options })
    if (result.kind === 'changed') document = result.document
    if (result.kind === 'refused') return { refusal: result.refusal }
    return result.kind === 'changed' || result.kind === 'unchanged' ? result.result : {}
  }
}

function whyLeftOut(state: TargetState, { action, options, leaveOut }: PlanRequest): string | undefined {
  return leaveOut ? action.leavesOut?.(state, options) : undefined
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function jobOf({ listed, pin, summary }: SummarizedStream, targets: readonly Target[]): BatchJob {
  const { etag, lease } = listed
  return { targets, pin, etag, lease, version: summary?.version ?? pin.ifVersion }
}

function eventOf({ event }: Target): { readonly event?: string } {
  return event === undefined ? {} : { event }
}

/** The problem of a name that no stream can have, from a list; `undefined` for all others. */
function badNameProblem(stream: string): Problem | undefined {
  try {
    checkReadableName(stream)
    return undefined
  } catch (error) {
    if (!(error instanceof BadName)) throw error
    return problem(error.code, error.message, { stream, cause: error })
  }
}

/** The missing streams and events as one problem of the command; `undefined` if none is missing. */
export function missingProblemOf(missing: readonly Problem[], many: boolean, hint: string): Problem | undefined {
  const [first, ...others] = missing
  if (first === undefined || !many) return first
  const facts = others.slice(0, MAX_NAMED).map(({ message }) => ['also', message] as const)
  const more = others.length - facts.length
  return {
    ...first,
    facts: more > 0 ? [...facts, ['also', `${more} more`]] : facts,
    hint: isPattern(first.stream ?? '') ? (first.hint ?? hint) : hint,
  }
}

const MAX_NAMED = 20

/** An inspected stream. */
interface Inspected {
  readonly item: SummarizedStream
  /** Only if its events are targets and the document can be read. */
  readonly view?: StreamView
}

interface InspectedPage {
  readonly found: readonly Inspected[]
  /** Names of streams that do not exist. */
  readonly missing: readonly string[]
}

/** Number of streams read at a time. */
const READS_AT_ONCE = 8

/** The current state of the selected streams; reads whole documents if events are targets or changes are tried. */
async function* inspect(store: StreamStore, request: PlanRequest, signal: AbortSignal): AsyncGenerator<InspectedPage> {
  const { selection, action, eventsOf } = request
  if (eventsOf === undefined) {
    for await (const { found, missing } of selected(store, selection, signal)) {
      const items = found.map(item => ({ item }))
      yield { found: action.trial === undefined ? items : await withDocuments(items, store, request, signal), missing }
    }
    return
  }
  const isFilter = selection.kind === 'filter'
  const names = isFilter ? namesOf(store, selection, signal) : new Set(selection.names)
  yield* readAhead(names, READS_AT_ONCE, async name => {
    const one = await inspectOne(store, name, signal)
    return { found: one === undefined ? [] : [one], missing: one === undefined && !isFilter ? [name] : [] }
  })
}

/** Reads the documents of the streams that their summaries do not leave out. */
async function withDocuments(
  found: readonly Inspected[],
  store: StreamStore,
  request: PlanRequest,
  signal: AbortSignal,
): Promise<readonly Inspected[]> {
  const read: Inspected[] = []
  const whole = readAhead(found, READS_AT_ONCE, async one => {
    const isTried = one.item.fault === undefined && whyLeftOut(stateOf(one, undefined), request) === undefined
    return (isTried ? await inspectOne(store, one.item.listed.name, signal) : undefined) ?? one
  })
  for await (const one of whole) read.push(one)
  return read
}

async function inspectOne(store: StreamStore, name: string, signal: AbortSignal): Promise<Inspected | undefined> {
  try {
    const stored = await store.read(name, signal)
    if (stored === undefined) return undefined
    const nowMs = store.nowMs()
    const item = summarizeStored(stored, nowMs)
    return item.fault === undefined ? { item, view: viewOf(stored, nowMs) } : { item }
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    const item = await summaryOf(store, { name }, signal)
    return item && { item }
  }
}

async function* namesOf(
  store: StreamStore,
  { filter }: Extract<Selection, { kind: 'filter' }>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const page of summaries(store, filter, { signal })) for (const { listed } of page) yield listed.name
}

const UNKNOWN: TargetState = {
  status: '',
  isEnded: false,
  hasFailed: false,
  isCanceled: false,
  hasNewFailure: false,
  isSuspended: false,
  isHeld: false,
  openBelow: 0,
}

/** The state of a stream, or of an event in it. */
function stateOf({ item, view }: Inspected, event: string | undefined): TargetState {
  if (event !== undefined && view !== undefined) return eventState(view, event)
  const { summary } = item
  const { lease } = item.listed
  if (summary === undefined) return { ...UNKNOWN, status: item.fault?.code ?? 'not started', lease }
  const { status, open, failed, canceled } = summary
  const openBelow = isFinal({ status }) ? open : Math.max(0, open - 1)
  return {
    status,
    isEnded: isFinal({ status }) && open === 0,
    hasFailed: failed > 0,
    isCanceled: canceled > 0,
    hasNewFailure: failed > 0 && !isAcknowledged(summary),
    isSuspended: isSuspended(summary),
    isHeld: isHeldStream(summary),
    openBelow,
    lease,
  }
}

function eventState({ stream }: StreamView, id: string): TargetState {
  const at = stream.positionOf(id)
  const event = stream.at(at)
  if (event === undefined) return UNKNOWN
  const below = stream.descendantPositions(at).flatMap(position => stream.at(position) ?? [])
  const openBelow = below.filter(other => !isFinal(other)).length
  const { status } = event
  return {
    status,
    isEnded: isFinal(event) && openBelow === 0,
    hasFailed: isFailed(event),
    isCanceled: status === 'canceled',
    hasNewFailure: status === 'aborted',
    isSuspended: stream.suspended,
    isHeld: stream.held,
    openBelow,
  }
}
