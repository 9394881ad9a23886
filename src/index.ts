/**
 * leasectl as a library: event streams in leased blobs, from TypeScript.
 *
 * ```ts
 * await using store = await openStore('sqlite:orders.db')
 * await createStream(store, 'orders/4711', { by: 'shop' }, { forks: ['Search', 'Pay'], join: 'Ship' })
 * await worker(store, { name: 'Search' }, async job => complete(`found ${job.event.key}`))
 * ```
 *
 * @packageDocumentation
 */
import { disposable, type OpenedStore } from './library/streams.ts'
import { openStore as openStoreAt } from './store/open.ts'
import { isObject, nonEmptyText, wrong } from './stream/values.ts'

/**
 * Opens a store by its address: `sqlite:PATH`, `azure:ACCOUNT/CONTAINER`, the URL of a container, `azurite:CONTAINER` or
 * `memory:`. Credentials come from `env`, under the names that the Azure CLI uses.
 *
 * A missing file of an embedded store is an error (`ContainerMissing`) of all calls but those that create a stream or the
 * container, as a missing container is.
 *
 * @throws BadAddress; InvalidValue for an argument of the wrong type
 */
export async function openStore(address: string, env: NodeJS.ProcessEnv = process.env): Promise<OpenedStore> {
  if (!isObject(env)) throw wrong('env', env, 'an object such as process.env')
  return disposable(await openStoreAt(nonEmptyText(address, 'address'), env, { mustExist: true }))
}

export type { DeadLetter } from './inbox/drain/dead-letters.ts'
export type { DrainEvent, DrainReport } from './inbox/drain/types.ts'
export type { InboxRecord } from './inbox/record.ts'
export type { RegionEvent } from './inbox/regions/writer.ts'
export { PutUnknown } from './inbox/writer.ts'
export { type NewDataOptions, newData, type ResultOption, readData } from './library/data.ts'
export { type DrainInboxOptions, drain, type RecordHandler } from './library/drain.ts'
export type {
  AdvanceOptions,
  EndOptions,
  EventEditor,
  SignalDetails,
  StartOptions,
  StreamEditor,
  TouchOptions,
} from './library/editor.ts'
export { EventNotFound, InboxNotFound, StreamNotFound } from './library/errors.ts'
export {
  type CreateInboxOptions,
  createInbox,
  type OpenedInbox,
  type OpenInboxOptions,
  openInbox,
  type PutReport,
  type RecordInput,
} from './library/inbox.ts'
export {
  type AcquireLeaseOptions,
  type AcquireLeaseOutcome,
  acquireLease,
  type BreakLeaseOptions,
  breakLease,
  changeLease,
  type LeaseScopeOptions,
  leaseScope,
  releaseLease,
  renewLease,
  type TakeLeaseOptions,
} from './library/lease.ts'
export type { EventReader, StreamReader } from './library/reader.ts'
export { type AppendOptions, append } from './library/session.ts'
export type { SignalOption } from './library/signal.ts'
export type { OpenedStore } from './library/streams.ts'
export {
  type ChangeStreamOptions,
  changeStream,
  createStream,
  type FollowOptions,
  follow,
  mustReadStream,
  type RewriteStreamOptions,
  readStream,
  rewriteStream,
  type StoredStream,
  signal,
  transact,
} from './library/streams.ts'
export {
  type SubscribedTransaction,
  type SubscriptionContext,
  type SubscriptionEvent,
  type SubscriptionHandler,
  type SubscriptionOptions,
  subscribe,
} from './library/subscribe.ts'
export {
  advance,
  complete,
  fail,
  onDone,
  onJoined,
  release,
  transient,
  type WorkCallbacks,
  type WorkerOptions,
  type WorkOnOptions,
  worker,
  workOn,
} from './library/worker.ts'
export { type XPath, xpath } from './library/xpath.ts'
export type { BreakLeaseOutcome, JournalOfBreak } from './ops/break-lease.ts'
export { type DataContent, DataFault, type DataFaultCode } from './ops/event-data.ts'
export type { FollowItem, JournalGap } from './ops/follow/follow.ts'
export type { HeldLease, LeaseScopeOutcome } from './ops/lease-scope.ts'
export type { JournalEntry } from './ops/read-stream.ts'
export type { Partition } from './ops/shards/partition.ts'
export type { EditOutcome } from './ops/transact/edit.ts'
export type { TransactOptions, TransactOutcome } from './ops/transact/transact.ts'
export type { AppendOutcome, BlockLog, LogExtent, LogLines, LogPosition } from './store/block-log.ts'
export * from './store/errors.ts'
export type * from './store/facts.ts'
export type * from './store/store.ts'
export { DATA_KINDS, type DataKind, type EventData } from './stream/data.ts'
export type { DataInput } from './stream/data-input.ts'
export { BadDocument, InvalidValue, LeasectlError, StreamFault } from './stream/errors.ts'
export type {
  AttributeName,
  EventAttributes,
  ForeignAttribute,
  LcAttributeName,
  Status,
  StreamEvent,
  StreamOutcome,
} from './stream/event.ts'
export { ATTRIBUTES, LC_ATTRIBUTES, OUTCOMES, STATUSES } from './stream/event.ts'
export type { WaitsFor } from './stream/gate.ts'
export type { ChangeCause, JournalChange, Transaction } from './stream/journal/journal.ts'
export type { Precondition } from './stream/operations/apply.ts'
export type {
  Authorship,
  ChangeResult,
  Claimant,
  ClaimResult,
  EventSpec,
  ObservedDeadline,
  OnDue,
  OnFailure,
  Operation,
  Refusal,
  RefusalCode,
  SettableAttributes,
  StepSpec,
} from './stream/operations/operation.ts'
export { ON_DUE, ON_FAILURE, SETTABLE } from './stream/operations/operation.ts'
export type { KeptSignal } from './stream/signal.ts'
export type {
  AttributeChanges,
  EventInput,
  NewEvent,
  NewStream,
  PlanInput,
  StepInput,
  Successors,
} from './stream/specs.ts'
export type { Summary } from './stream/summary.ts'
export type { Suspension } from './stream/suspension.ts'
export type { UpstreamResult } from './stream/upstream-results.ts'
export type { SelectedValue } from './stream/xpath/xpath.ts'
export type { EventEnd, StreamCommand, StreamCommandOptions } from './subscriptions/commands/command.ts'
export type { OnPoison } from './subscriptions/types.ts'
export type {
  GivenUp,
  Job,
  LoopOptions,
  LoopReport,
  LostClaim,
  NotCommitted,
  SelfReported,
  StopReason,
  UpstreamInput,
  Work,
  WorkerEvent,
  WorkOptions,
  WorkOutcome,
  WorkResult,
} from './worker/types.ts'
