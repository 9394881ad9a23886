import { sameStore } from '../../cli/contexts/contexts.ts'
import { errorProblem } from '../../cli/error-problem.ts'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { CommandFailed, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { checkMayChange } from '../../cli/store.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { Inbox } from '../../inbox/inbox.ts'
import { openRegions } from '../../inbox/regions/open.ts'
import {
  DEFAULT_PREFER_MS,
  type RegionEvent,
  type RegionsWriter,
  type RegionsWriterOptions,
} from '../../inbox/regions/writer.ts'
import type { ContainerMissing } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { messageOf } from '../../util/errors.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type AlsoFlags, checkAlso } from './also.ts'
import { missingIn, otherStore } from './find.ts'

/** The inbox of a name in two stores. */
export interface TwoRegions {
  readonly inbox: Inbox
  readonly writer: RegionsWriter
  /** Addresses of the first and the second store. */
  readonly stores: readonly [string, string]
  /** The second store. */
  readonly also: StreamStore
}

/**
 * Opens the second store of `--also`, and the inbox of the name in both. `undefined` without `--also`.
 * @param store the opened store of the command
 * @param options `tell` gets a sentence when a region is away, and when it is back
 * @throws UsageError if both are the same store; CommandFailed if an inbox is missing or has other partitions
 */
export async function openTwoRegions(
  name: string,
  flags: AlsoFlags,
  store: StreamStore,
  runtime: Runtime,
  {
    tell,
    ...options
  }: Omit<RegionsWriterOptions, 'preferMs' | 'observe'> & { readonly tell: (sentence: string) => void },
): Promise<TwoRegions | undefined> {
  checkAlso(flags)
  const { also, prefer: preferMs = DEFAULT_PREFER_MS } = flags
  if (also === undefined) return undefined
  const other = await runtime.openOther(otherStore(also, '--also'))
  await checkMayChange(other)
  const address = runtime.opened?.address ?? store.address
  if (sameStore([{ address }, other]) !== undefined)
    throw new UsageError(`--also is the store itself: ${visibleText(other.address)}`, {
      hint: 'Name the store of the second region.',
    })
  const stores = [address, other.address] as const
  const observe = (event: RegionEvent) => tell(regionText(event, stores))
  const opened = await openRegions([store, other.store], name, { ...options, preferMs, observe })
  switch (opened.kind) {
    case 'opened':
      return { inbox: opened.inbox, writer: opened.writer, stores, also: other.store }
    case 'missing':
      throw missing(name, opened, opened.place === 'first' ? (runtime.opened ?? other) : other, runtime)
    case 'different':
      throw different(name, opened.partitions)
    default:
      return opened satisfies never
  }
}

function missing(
  name: string,
  { fault }: { readonly fault?: ContainerMissing },
  place: RuntimeStore,
  runtime: Runtime,
): CommandFailed {
  if (fault !== undefined) return new CommandFailed(errorProblem(fault, runtime, place))
  return missingIn(place, name, 'inbox create makes one: in both stores with the same number of partitions.', runtime)
}

function different(name: string, [first, second]: readonly [number, number]): CommandFailed {
  const has = `the inbox ${name} has ${counted(first, 'partition')} in the first store and ${second} in the second`
  return new CommandFailed(
    problem('exists', has, {
      exit: exitOfRefusal('exists'),
      hint: 'Create it with the same number in both: a key has the same partition in each region then.',
    }),
  )
}

/** What happened to a region, in a sentence. */
function regionText(event: RegionEvent, [first, second]: TwoRegions['stores']): string {
  const [store, other] = (event.place === 'first' ? [first, second] : [second, first]).map(visibleText)
  if (event.kind === 'back') return `${store} takes records again`
  const what = event.refuses ? 'takes no records until that is mended' : 'is away'
  return `${store} ${what} (${visibleText(messageOf(event.error))}); records go to ${other} only`
}
