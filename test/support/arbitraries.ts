import fc from 'fast-check'
import { dataOf, type EventData } from '../../src/stream/data.ts'
import { fenceOf, isFinal, type StreamEvent } from '../../src/stream/event.ts'
import { type EventSpec, ON_FAILURE, type StepSpec } from '../../src/stream/operations/operation.ts'
import { sized } from '../guarantees/size.ts'
import type { Brief, EventText } from './stream-builder.ts'

/**
 * The number of runs of a property. `LEASECTL_RUNS=20000` for a long night. Halves and quarters of it are whole numbers:
 * fast-check never ends otherwise.
 */
export const RUNS = 4 * Math.ceil(Number(process.env.LEASECTL_RUNS ?? 120) / 4)

/** The same for scripts that are played on the code and on its model. */
export const MODEL_RUNS = Number(process.env.LEASECTL_RUNS ?? sized(6_000, 400_000))

/** The next step of a play. Numbers select from the current events, so that a script can be shrunk. */
export type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'legacy'; readonly which: number; readonly status: string; readonly rebuild: boolean }
  | { readonly kind: 'operation'; readonly choice: Choice }

const OWNERS = ['w1', 'w2', 'w3'] as const
const MESSAGES = ['boom', 'half', 'WithError', 'ä<&"'] as const

/** Data that stands in a document: bytes of any kind, and texts that XML must escape. */
const anInlineData = (): fc.Arbitrary<EventData> =>
  fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map(bytes => dataOf(bytes)),
    fc
      .array(fc.constantFrom('a', '<', '>', '&', '"', '\r\n', '\t', ' ', '\u0085', '\ufeff', '😀', ']]>'), {
        maxLength: 9,
      })
      .map(parts => dataOf(Buffer.from(parts.join('')), 'text/x; a="<&>"')),
  )

/** Data of an event: in the document, or beside it with only type, size and hash. */
export const aData = (): fc.Arbitrary<EventData> =>
  fc.oneof(
    { arbitrary: anInlineData(), weight: 2 },
    fc.nat(9_000_000).map(size => ({ type: 'a/b', size: 4097 + size, sha256: String(size).padStart(64, '0') })),
  )

const aSpec = (): fc.Arbitrary<EventSpec> =>
  fc.record(
    {
      name: fc.constantFrom('Search', 'Pay'),
      timeout: fc.constantFrom('00:01:00', '1.00:00:00', 'soon'),
      trackingId: fc.constant('t2'),
      msg: fc.constant('ref:1'),
      onDue: fc.constant('notify' as const),
      data: anInlineData(),
    },
    { requiredKeys: ['name'] },
  )

/** An event of a process: it may wait, be tried again, and be undone. */
const aProcessSpec = (): fc.Arbitrary<EventSpec> =>
  fc
    .tuple(
      aSpec(),
      fc.record(
        {
          delay: fc.constantFrom('00:00:01', '01:00:00'),
          signal: fc.constant('go'),
          wake: fc.constantFrom('2024-05-01T12:01:00.000Z', '2024-05-02T12:00:00.000Z'),
          auto: fc.constant(true),
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          retry: fc.constantFrom('1 1s..1s', '3 1s..1m'),
          attemptTimeout: fc.constantFrom('00:00:30', '02:00:00'),
          undo: fc.constantFrom('UndoIt', 'UndoThat'),
        },
        { requiredKeys: [] },
      ),
      fc.nat(3),
    )
    .map(([spec, gate, more, gated]) => ({ ...spec, ...more, ...(gated === 0 ? gate : {}) }))

const aPlan = (): fc.Arbitrary<readonly StepSpec[]> =>
  fc
    .array(fc.record({ spec: aProcessSpec(), isParallel: fc.boolean(), need: fc.nat(5) }), { maxLength: 4 })
    .map(parts =>
      parts.map(({ spec, isParallel, need }, at) => ({
        ...spec,
        thread: isParallel ? at : 0,
        needs: at === 0 ? [] : [need % at],
      })),
    )

/** A stream with a plan and a policy for failures. */
export const aProcess = (): fc.Arbitrary<Brief> =>
  fc
    .record({ init: anInit(), steps: aPlan(), onFailure: fc.constantFrom(...ON_FAILURE) })
    .map(({ init, steps, onFailure }) => ({ ...init, steps, onFailure }) as Brief)

/** A stream of our own with up to three branches, a join and perhaps a hold. */
export const anInit = (): fc.Arbitrary<Brief> =>
  fc
    .record({ forks: fc.array(aSpec(), { maxLength: 3 }), join: fc.boolean(), hold: fc.boolean(), held: fc.nat(4) })
    .map(({ forks, join, hold, held }) => ({
      op: 'init' as const,
      root: { name: 'Start', msg: 'ref:0' },
      forks,
      hold: hold && held === 0,
      ...(join && forks.length > 0 ? { join: { name: 'Join' } } : {}),
    }))

/** The actions of the .NET library: it starts `init` events and ends open events. */
const aLegacyStep = (rebuild: boolean): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant('legacy' as const),
    which: fc.nat(40),
    status: fc.constantFrom('inprocess', 'completed', 'completed', 'aborted'),
    rebuild: rebuild ? fc.boolean() : fc.constant(false),
  })

const aWait = (): fc.Arbitrary<Step> =>
  fc.constantFrom(1_000, 61_000, 3_600_000).map(ms => ({ kind: 'wait' as const, ms }))

/** Steps of several workers and operators; `foreign` adds writers of the .NET library, which may drop our attributes. */
export function aScript(
  foreign: 'none' | 'kept' | 'dropped',
  maxLength = 25,
  operation = anOperation(),
): fc.Arbitrary<readonly Step[]> {
  const own: fc.WeightedArbitrary<Step>[] = [
    { arbitrary: operation, weight: 12 },
    { arbitrary: aWait(), weight: 2 },
  ]
  const others = foreign === 'none' ? [] : [{ arbitrary: aLegacyStep(foreign === 'dropped'), weight: 3 }]
  return fc.array(fc.oneof(...own, ...others), { minLength: 1, maxLength, size: 'max' })
}

/** The same in streams with gates, attempts and policies. */
export function aProcessScript(foreign: 'none' | 'kept' | 'dropped', maxLength = 25): fc.Arbitrary<readonly Step[]> {
  const more = 'fail transient transient skip skip release-later abort-all end-at-once'
  return aScript(foreign, maxLength, anOperation(more.split(' '), aProcessSpec(), aPlan()))
}

/** Any operation on any event, by any owner, with a right, wrong or missing fence. */
function anOperation(
  more: readonly string[] = [],
  spec: fc.Arbitrary<EventSpec> = aSpec(),
  plan: fc.Arbitrary<readonly StepSpec[]> = fc.constant([]),
): fc.Arbitrary<Step> {
  const kinds = 'start start start advance advance complete complete complete fail touch release cancel abort'
  return fc
    .record({
      op: fc.constantFrom(
        ...kinds.split(' '),
        'retry',
        'retry',
        'retry-all',
        'retry-canceled',
        'set',
        'settle',
        'break-lease',
        'cancel-all',
        ...['suspend', 'suspend-stop', 'resume', 'resume', 'signal', 'append'],
        ...more,
      ),
      which: fc.nat(40),
      open: fc.nat(3),
      owner: fc.constantFrom(...OWNERS),
      proof: fc.constantFrom('owner', 'fence', 'none', 'stale'),
      msg: fc.option(fc.constantFrom(...MESSAGES), { nil: undefined }),
      specs: fc.array(spec, { minLength: 1, maxLength: 3 }),
      plan,
      shape: fc.constantFrom('next', 'fork', 'join', 'more'),
      takeOver: fc.boolean(),
      result: fc.option(anInlineData(), { nil: undefined, freq: 2 }),
    })
    .map(choice => ({ kind: 'operation' as const, choice }))
}

interface Choice {
  readonly op: string
  readonly which: number
  readonly open: number
  readonly owner: string
  readonly proof: string
  readonly msg: string | undefined
  readonly specs: readonly EventSpec[]
  readonly plan: readonly StepSpec[]
  readonly shape: string
  readonly takeOver: boolean
  readonly result: EventData | undefined
}

/** Mostly open events for work and final ones for retry: refusals are less informative. */
function targetOf({ op, which, open }: Choice, events: readonly StreamEvent[]): StreamEvent {
  const liked = open > 0 ? events.filter(event => isFinal(event) === (op === 'retry' || op === 'skip')) : events
  const among = liked.length > 0 ? liked : events
  const event = among[which % among.length]
  if (event === undefined) throw new Error('a stream has events')
  return event
}

/** The operation for a selection among the current events. */
export function briefOf(choice: Choice, events: readonly StreamEvent[]): Brief {
  const target = targetOf(choice, events)
  const event = target.id
  const fence = { owner: {}, none: {}, fence: { fence: fenceOf(target) ?? 0 }, stale: { fence: 1 } }[choice.proof] ?? {}
  const claimant = { ...(choice.proof === 'owner' ? { owner: choice.owner } : {}), ...fence }
  const msg = choice.msg === undefined ? {} : { msg: choice.msg }
  const result = choice.result === undefined ? {} : { result: choice.result }
  switch (choice.op) {
    case 'start':
      return { op: 'start', event, owner: choice.owner, takeOver: choice.takeOver, ...fence }
    case 'touch':
      return { op: choice.op, event, ...claimant, ...msg }
    case 'complete':
    case 'fail':
      return { op: choice.op, event, ...claimant, ...msg, ...result }
    case 'release':
      return { op: 'release', event, ...claimant }
    case 'advance':
      return { op: 'advance', event, ...claimant, ...successorsOf(choice), ...result }
    case 'set':
      return { op: 'set', event, ...claimant, attributes: { tag: choice.owner, timeout: '00:05:00' } }
    case 'retry':
      return { op: 'retry', event }
    case 'retry-all':
      return { op: 'retry' }
    case 'retry-canceled':
      return { op: 'retry', canceled: true }
    case 'cancel-all':
      return { op: 'cancel' }
    case 'suspend':
    case 'suspend-stop':
      return { op: 'suspend', ...(choice.op === 'suspend-stop' ? { stop: true } : {}), ...msg }
    case 'abort-all':
      return { op: 'abort', ...msg }
    case 'end-at-once':
      return { op: choice.takeOver ? 'cancel' : 'abort', noCompensate: true }
    case 'transient':
      return { op: 'fail', event, transient: true, retry: '2 1s..2s', ...claimant, ...msg }
    case 'skip':
      return { op: 'skip', event, ...msg }
    case 'release-later':
      return { op: 'release', event, delay: '00:00:30', ...claimant }
    case 'append':
      return { op: 'append', step: choice.specs[0] ?? { name: 'Next' }, last: choice.takeOver }
    case 'signal':
      return {
        ...{ op: 'signal', name: choice.owner, every: choice.takeOver },
        ...(choice.result === undefined ? {} : { data: choice.result }),
      }
    case 'resume':
    case 'settle':
    case 'break-lease':
      return { op: choice.op }
    default:
      return { op: choice.op === 'abort' ? 'abort' : 'cancel', event, ...msg }
  }
}

function successorsOf({ specs, shape, plan }: Choice) {
  if (plan.length > 0 && shape !== 'join') return { forks: [], steps: plan, more: shape === 'more' }
  const [first = { name: 'Next' }] = specs
  if (shape === 'next') return { next: first }
  if (shape === 'more') return { forks: specs, more: true }
  return shape === 'join' ? { forks: specs, join: { name: 'Join' } } : { forks: specs }
}

const IDS = ['00', '01', '01.00', '01.01', '02.00', 'x', "o'k", '1.0'] as const
const anId = () => fc.constantFrom(...IDS)
const aLink = () => fc.oneof({ arbitrary: anId(), weight: 4 }, { arbitrary: fc.constantFrom('', '77.00'), weight: 2 })

/** Malformed documents: cycles, links to itself and to missing events, duplicates, unknown statuses, odd claims. */
export const aStrangeDocument = (): fc.Arbitrary<readonly EventText[]> =>
  fc
    .array(
      fc.record({
        id: anId(),
        status: fc.constantFrom('init', 'inprocess', 'inprocess', 'completed', 'aborted', 'canceled', 'paused', ''),
        prev: aLink(),
        next: fc.array(aLink(), { maxLength: 3 }).map(ids => ids.join('|')),
        timeout: fc.constantFrom('', '00:00:01', '?'),
        timestamp: fc.constantFrom('', '2024-05-01T11:00:00Z', '4/30/2024 1:00:00 PM', 'never'),
        'lc:owner': fc.constantFrom('', 'w1'),
        'lc:fence': fc.constantFrom('', '3', 'x'),
        'lc:until': fc.constantFrom('', '2024-05-01T12:00:30.000Z', '?'),
        'lc:join': fc.constantFrom('', '', 'wait', 'odd'),
        'lc:superseded': fc.constantFrom('', '', '', '2'),
      }),
      { minLength: 1, maxLength: 7 },
    )
    .map(events => events.map((event, at) => (at === 0 ? { ...event, prev: '' } : event)))
    .map(events => events.map(event => withoutEmpty(event)))

function withoutEmpty(event: EventText): EventText {
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== ''))
}
