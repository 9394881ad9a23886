import { isFinal, isWaitingJoin, nextIds, type StreamEvent } from '../../stream/event.ts'
import { isLinkable } from '../../stream/event-id.ts'
import { reach } from '../../stream/event-stream.ts'
import { commandWords } from '../../util/strings.ts'
import { type Examined, endCommand } from './examined-stream.ts'
import { type Finding, idList, quoted } from './finding.ts'

/** Findings about ids and links. */
export function* structureFindings(subject: Examined): Generator<Finding> {
  yield* rootFindings(subject)
  yield* duplicateIds(subject)
  yield* danglingLinks(subject)
  yield* oddLinks(subject)
  yield* cycles(subject)
  yield* unreachable(subject)
}

function* rootFindings({ root }: Examined): Generator<Finding> {
  if (isWaitingJoin(root)) {
    yield {
      severity: 'error',
      code: 'root-waits',
      subject: root.id,
      message: 'the root is marked as a join that waits for its branches; a root has no branches, so it waits forever',
      hint: 'The program that wrote it must remove its join attribute.',
    }
  }
  if (root.lc.superseded !== undefined) {
    yield {
      severity: 'warning',
      code: 'root-superseded',
      subject: root.id,
      message: 'the root is marked as replaced by a retry, so it is ignored everywhere',
      hint: 'The program that wrote it must remove its superseded attribute.',
    }
  }
}

function* duplicateIds({ document, graph }: Examined): Generator<Finding> {
  const later = new Map<string, number>()
  for (const [at, { id }] of document.events.entries()) {
    if (graph.position.get(id) !== at) later.set(id, (later.get(id) ?? 0) + 1)
  }
  for (const [id, count] of later) {
    const others = count === 1 ? 'another event has this id: it is' : `${count} more events have this id: they are`
    yield {
      severity: 'error',
      code: 'duplicate-id',
      subject: id,
      message: `${others} ignored, only the first counts`,
      hint: 'No worker gets it and no event waits for it. The program that added it must use a new id.',
    }
  }
}

function* danglingLinks(subject: Examined): Generator<Finding> {
  const { graph, counted } = subject
  for (const { event, at } of counted) {
    const missing = graph.missing.get(at) ?? []
    if (missing.length > 0) {
      const what = `next names ${idList(missing)}, which no event has`
      if (isFinal(event)) yield { severity: 'info', code: 'dangling-next', subject: event.id, message: what }
      else {
        yield {
          severity: 'error',
          code: 'dangling-next',
          subject: event.id,
          message: `${what}: it counts as open, so ${event.id} can neither close nor be completed`,
          hint: 'Force it to end, unless the program that should add the missing event still does.',
          command: endCommand('cancel', subject, event.id),
        }
      }
    }
    if (event.prev === '' || graph.position.has(event.prev)) continue
    const alone = (graph.predecessors[at] ?? []).length === 0
    yield {
      severity: alone && !isFinal(event) ? 'warning' : 'info',
      code: 'dangling-prev',
      subject: event.id,
      message: `it follows ${event.prev}, which no event has${alone ? ': no event waits for it' : ''}`,
    }
  }
}

function* oddLinks({ root, counted }: Examined): Generator<Finding> {
  for (const { event } of counted) {
    const { id } = event
    const next = nextIds(event)
    if (event.prev === id || next.includes(id)) {
      yield {
        severity: 'warning',
        code: 'self-link',
        subject: id,
        message: 'it names itself as its predecessor or successor; leasectl ignores that, .NET never closes it',
      }
    }
    if (id !== root.id && next.includes(root.id)) {
      yield {
        severity: 'warning',
        code: 'link-to-root',
        subject: id,
        message: 'next names the root; leasectl ignores that, .NET never closes it before the root',
      }
    }
    if (isLinkable(id)) continue
    yield {
      severity: isFinal(event) ? 'info' : 'warning',
      code: 'unlinkable-id',
      subject: id,
      message: `the id ${quoted(id)} has "|", "'" or surrounding blanks: it gets no successors and .NET cannot select it`,
    }
  }
}

function* cycles(subject: Examined): Generator<Finding> {
  const { document, graph } = subject
  for (const positions of cyclesOf(graph.successors)) {
    const members = positions.flatMap(at => document.events[at] ?? [])
    const [first] = members
    if (first === undefined) continue
    const ids = idList(members.map(({ id }) => id))
    const stuck = members.filter(event => !isFinal(event))
    yield {
      severity: stuck.length > 0 ? 'error' : 'warning',
      code: 'cycle',
      subject: first.id,
      message: `these events form a cycle: ${ids}${stuck.length > 0 ? '; each waits for the other, none can close' : ''}`,
      ...(stuck.length === 0
        ? {}
        : { hint: 'Force one of them to end.', command: endCommand('cancel', subject, stuck[0]?.id ?? first.id) }),
    }
  }
}

/** Reports only the first event of each unreachable part; dangling links are reported already. */
function* unreachable({ root, graph, counted }: Examined): Generator<Finding> {
  const reached = new Set([0, ...reach(0, at => graph.successors[at] ?? [])])
  for (const { event, at } of counted) {
    const isHead = !reached.has(at) && (graph.predecessors[at] ?? []).length === 0
    if (!isHead || (event.prev !== '' && !graph.position.has(event.prev))) continue
    yield {
      severity: isFinal(event) ? 'info' : 'warning',
      code: 'unreachable',
      subject: event.id,
      message: `it is not reachable from the root ${root.id}, so no event waits for it or its successors`,
      hint: 'It ends with the whole stream, and can be ended by its id.',
    }
  }
}

/**
 * The cycles of a graph: its strongly connected components of more than one node, each in walking order (Tarjan). Not
 * recursive: a foreign chain may be as long as a document allows.
 */
function cyclesOf(successors: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const search = new Search(successors)
  for (let at = 0; at < successors.length; at++) search.from(at)
  return search.found
}

interface Visit {
  readonly at: number
  following: number
}

class Search {
  readonly found: number[][] = []
  readonly #successors: readonly (readonly number[])[]
  /** When a node was first visited, and the earliest node that it leads back to. */
  readonly #met = new Map<number, number>()
  readonly #lowest = new Map<number, number>()
  readonly #trail: number[] = []
  readonly #onTrail = new Set<number>()

  constructor(successors: readonly (readonly number[])[]) {
    this.#successors = successors
  }

  from(start: number): void {
    if (this.#met.has(start)) return
    const visits = [this.#enter(start)]
    for (let top = visits.at(-1); top !== undefined; top = visits.at(-1)) {
      const next = this.#successors[top.at]?.[top.following++]
      if (next === undefined) {
        visits.pop()
        this.#leave(top.at, visits.at(-1)?.at)
      } else if (!this.#met.has(next)) visits.push(this.#enter(next))
      else if (this.#onTrail.has(next)) this.#lower(top.at, this.#met.get(next))
    }
  }

  #enter(at: number): Visit {
    this.#met.set(at, this.#met.size)
    this.#lowest.set(at, this.#met.size - 1)
    this.#trail.push(at)
    this.#onTrail.add(at)
    return { at, following: 0 }
  }

  #leave(at: number, from: number | undefined): void {
    if (from !== undefined) this.#lower(from, this.#lowest.get(at))
    if (this.#lowest.get(at) !== this.#met.get(at)) return
    const component = this.#trail.splice(this.#trail.lastIndexOf(at))
    for (const member of component) this.#onTrail.delete(member)
    if (component.length > 1) this.found.push(component)
  }

  #lower(at: number, to = Number.POSITIVE_INFINITY): void {
    this.#lowest.set(at, Math.min(this.#lowest.get(at) ?? to, to))
  }
}

/** Finds an event with successors that was never started itself. */
export function* parentInit(subject: Examined, event: StreamEvent, at: number): Generator<Finding> {
  const { name, stream } = subject
  if (event.status !== 'init') return
  if (stream.held) {
    if (at === 0) yield* heldThoughStarted(subject)
    return
  }
  if (stream.successorPositions(at).length === 0) return
  yield {
    severity: 'warning',
    code: 'parent-init',
    subject: event.id,
    message: 'it has successors but is still init; leasectl treats it as started, .NET never closes it',
    command: commandWords(['event', 'start'], [name, event.id]),
  }
}

/** Finds a stream that looks held because another program works on it without starting the root. */
function* heldThoughStarted({ name, root, counted }: Examined): Generator<Finding> {
  const started = counted.find(({ event, at }) => at !== 0 && event.status !== 'init' && !isWaitingJoin(event))
  if (started === undefined) return
  const { id, status } = started.event
  yield {
    severity: 'warning',
    code: 'parent-init',
    subject: root.id,
    message: `it is still init, though ${idList([id])} is ${status}: the stream counts as held, so no event in it is handed out or becomes due`,
    command: commandWords(['event', 'start'], [name, root.id]),
  }
}
