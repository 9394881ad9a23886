import { missingProblem, NO_SUCH_EVENT } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { type StreamView, viewOf } from '../../ops/read-stream.ts'
import { type Selection, selected } from '../../ops/selection.ts'
import { type SummarizedStream, summaries, summarizeStored, summaryOf } from '../../ops/summaries.ts'
import type { LeaseView, StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { isFailed, isFinal } from '../../stream/event.ts'
import type { Precondition } from '../../stream/operations/apply.ts'
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
  readonly status: string
  /** Number of open events below it. */
  readonly openBelow: number
  /** Why it is not tried. */
  readonly objection: Done | Problem | undefined
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
  /** The first targets. */
  readonly rows: readonly PreviewRow[]
  /** Number of targets to try, by status. */
  readonly byStatus: ReadonlyMap<string, number>
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
  /** Number of rows kept for the preview. */
  readonly keepRows: number
}

/** Inspects all selected streams before any change. */
export async function makePlan(request: PlanRequest, store: StreamStore, signal: AbortSignal): Promise<BatchPlan> {
  const draft = new PlanDraft(request)
  for await (const { found, missing } of inspect(store, request.selection, request.eventsOf !== undefined, signal)) {
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
  readonly byStatus = new Map<string, number>()
  leftOut = 0
  readonly #request: PlanRequest

  constructor(request: PlanRequest) {
    this.#request = request
  }

  addMissing(stream: string): void {
    const { action, resume } = this.#request
    const gone = resume && action.gone
    const target = { stream, event: undefined }
    if (gone === undefined) this.missing.push(missingProblem(stream))
    else {
      this.targets.push(target)
      this.settled.push({ target, outcome: gone, born: resume?.bornOf(stream) })
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
    for (const event of wanted) if (!isThere(event)) this.missing.push(missingEvent(stream, event))
    // without this, no events would mean the whole stream
    if (wanted.length > 0 && events.length === 0) return
    const targets = targetsOf(stream, events).filter(target => this.#isMeant(one, target, objection))
    if (objection === undefined && targets.length > 0) this.jobs.push(jobOf(item, targets))
  }

  #isMeant(one: Inspected, target: Target, objection: Done | Problem | undefined): boolean {
    const { action, leaveOut, keepRows, resume } = this.#request
    const state = stateOf(one, target.event)
    const isRefused = objection !== undefined && isProblem(objection)
    if (!isRefused && leaveOut && action.leavesOut?.test(state)) {
      this.leftOut += 1
      return false
    }
    this.targets.push(target)
    const { status, openBelow } = state
    if (this.rows.length < keepRows) this.rows.push({ target, item: one.item, status, openBelow, objection })
    if (objection === undefined) this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1)
    else {
      const born = resume?.bornOf(target.stream) ?? one.item.pin.ifBorn
      this.settled.push({ target, outcome: isRefused ? { ...objection, ...eventOf(target) } : objection, born })
    }
    return true
  }
}

function jobOf({ listed, pin, summary }: SummarizedStream, targets: readonly Target[]): BatchJob {
  const { etag, lease } = listed
  return { targets, pin, etag, lease, version: summary?.version ?? pin.ifVersion }
}

function eventOf({ event }: Target): { readonly event?: string } {
  return event === undefined ? {} : { event }
}

function missingEvent(stream: string, event: string): Problem {
  return problem('event-not-found', `${stream} has no event ${event}`, { stream, event, hint: NO_SUCH_EVENT })
}

/** The missing streams and events as one problem of the command; `undefined` if none is missing. */
export function missingProblemOf(missing: readonly Problem[], many: boolean, hint: string): Problem | undefined {
  const [first, ...others] = missing
  if (first === undefined || !many) return first
  const facts = others.slice(0, MAX_NAMED).map(({ message }) => ['also', message] as const)
  const more = others.length - facts.length
  return { ...first, facts: more > 0 ? [...facts, ['also', `${more} more`]] : facts, hint }
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

/** The current state of the selected streams; reads whole documents only if events are targets. */
async function* inspect(
  store: StreamStore,
  selection: Selection,
  withEvents: boolean,
  signal: AbortSignal,
): AsyncGenerator<InspectedPage> {
  if (!withEvents) {
    for await (const { found, missing } of selected(store, selection, signal)) {
      yield { found: found.map(item => ({ item })), missing }
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

const UNKNOWN: TargetState = { status: '', isEnded: false, hasFailed: false, openBelow: 0 }

/** The state of a stream, or of an event in it. */
function stateOf({ item, view }: Inspected, event: string | undefined): TargetState {
  if (event !== undefined && view !== undefined) return eventState(view, event)
  const { summary } = item
  const { lease } = item.listed
  if (summary === undefined) return { ...UNKNOWN, status: item.fault?.code ?? 'not started', lease }
  const { status, open, failed } = summary
  const openBelow = isFinal({ status }) ? open : Math.max(0, open - 1)
  return { status, isEnded: isFinal({ status }) && open === 0, hasFailed: failed > 0, openBelow, lease }
}

function eventState({ stream }: StreamView, id: string): TargetState {
  const at = stream.positionOf(id)
  const event = stream.at(at)
  if (event === undefined) return UNKNOWN
  const below = stream.descendantPositions(at).flatMap(position => stream.at(position) ?? [])
  const openBelow = below.filter(other => !isFinal(other)).length
  return { status: event.status, isEnded: isFinal(event) && openBelow === 0, hasFailed: isFailed(event), openBelow }
}
