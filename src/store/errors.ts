import { LeasectlError, StreamFault } from '../stream/errors.ts'

/** Not signed in, or signed in without the right; a file that may not be opened or written. */
export class NotPermitted extends LeasectlError {
  readonly code = 'not-permitted'
  /** The error code of the service that refused, where there is one. */
  readonly serviceCode: string | undefined

  constructor(
    message: string,
    { serviceCode, ...options }: { cause?: unknown; hint?: string; serviceCode?: string } = {},
  ) {
    super(message, options)
    this.serviceCode = serviceCode
  }
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

/**
 * The store cannot be used safely as it is: a newer leasectl wrote it, the SQLite in this Node is too old to write it, or
 * its file has a second name.
 */
export class StoreIncompatible extends LeasectlError {
  readonly code = 'store-incompatible'
}

/** Disk full, quota reached. Nothing was applied. */
export class StoreFull extends LeasectlError {
  readonly code = 'store-full'
}

/** A blob of somebody else has a name that no stream can have: it is listed, and cannot be read or changed. */
export class BadName extends StreamFault {
  readonly code = 'bad-name'
  readonly stream: string

  constructor(stream: string, what: string) {
    super(`${stream}: no stream can have this name: ${what}`, {
      hint: 'Other programs leave such blobs, as marks of folders for example. rm --blob NAME removes it.',
    })
    this.stream = stream
  }
}

/**
 * What keeps a blob from being read or written. `blob-archived`: it is in the archive tier. `blob-encrypted`: with a key of its
 * writer's. `blob-type`: it is no block blob. `blob-incomplete`: it is being copied.
 */
export type BlobFaultCode = 'blob-archived' | 'blob-encrypted' | 'blob-type' | 'blob-incomplete'

/** The service keeps the blob of one stream from being read or written. */
export class UnreadableBlob extends StreamFault {
  readonly code: BlobFaultCode
  readonly stream: string

  constructor(
    stream: string,
    code: BlobFaultCode,
    { what, ...options }: { what: string; hint: string; cause?: unknown },
  ) {
    super(`${stream}: ${what}`, options)
    this.code = code
    this.stream = stream
  }
}

/** An address, name or setting that makes no sense. */
export class BadAddress extends LeasectlError {
  readonly code = 'bad-address'
}
