import { LeasectlError } from '../stream/errors.ts'

/** Not signed in, or signed in without the right; a file that may not be opened or written. */
export class NotPermitted extends LeasectlError {
  readonly code = 'not-permitted'
}

/** The container (or the folder of an embedded store) does not exist. */
export class ContainerMissing extends LeasectlError {
  readonly code = 'container-missing'
}

/** No connection, time-outs, throttling. Nothing was applied. */
export class StoreUnreachable extends LeasectlError {
  readonly code = 'store-unreachable'
}

/** It was closed by its own user: to ask it again makes no sense. */
export class StoreClosed extends StoreUnreachable {}

/** The store's own file is damaged or not a store at all. It is never deleted or rewritten. */
export class StoreDamaged extends LeasectlError {
  readonly code = 'store-damaged'
}

/** The store was written by a newer leasectl, or the SQLite in this Node is too old to write it safely. */
export class StoreIncompatible extends LeasectlError {
  readonly code = 'store-incompatible'
}

/** Disk full, quota reached. Nothing was applied. */
export class StoreFull extends LeasectlError {
  readonly code = 'store-full'
}

/** An address, name or setting that makes no sense. */
export class BadAddress extends LeasectlError {
  readonly code = 'bad-address'
}
