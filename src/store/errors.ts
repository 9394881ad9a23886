import { LeasectlError, StreamFault } from '../stream/errors.ts'

/** Not signed in, or signed in without the required right; a file that this user may not open or write. */
export class NotPermitted extends LeasectlError {
  readonly code = 'not-permitted'
  /** The error code of the service, if the service refused. */
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

/** No connection, timeouts, throttling. Nothing was applied. */
export class StoreUnreachable extends LeasectlError {
  readonly code = 'store-unreachable'
}

/** The program closed the store. Nothing was applied, and nothing will be. */
export class StoreClosed extends LeasectlError {
  readonly code = 'store-closed'
}

/** The file of the store is damaged, or is not a store. It is never deleted or rewritten. */
export class StoreDamaged extends LeasectlError {
  readonly code = 'store-damaged'
}

/**
 * The store cannot be used safely: a newer leasectl wrote it, the SQLite in this Node is too old to write it, or its file
 * has a second name (hard link).
 */
export class StoreIncompatible extends LeasectlError {
  readonly code = 'store-incompatible'
}

/** The disk is full or a quota is reached. Nothing was applied. */
export class StoreFull extends LeasectlError {
  readonly code = 'store-full'
}

/** The blob's name is not valid for a stream: another program wrote it. It is listed, and cannot be read or changed. */
export class BadName extends StreamFault {
  readonly code = 'bad-name'
  readonly stream: string

  constructor(stream: string, what: string) {
    super(`${stream}: not a valid stream name: ${what}`, {
      hint: 'Other programs leave such blobs, for example as folder markers. rm --blob NAME removes it.',
    })
    this.stream = stream
  }
}

/**
 * Reason why a blob cannot be read or written. `blob-archived`: it is in the archive tier. `blob-encrypted`: it is encrypted
 * with a key that its writer supplied. `blob-type`: it is not a block blob. `blob-incomplete`: it is still being copied.
 */
export type BlobFaultCode = 'blob-archived' | 'blob-encrypted' | 'blob-type' | 'blob-incomplete'

/** The service does not allow the blob of one stream to be read or written. */
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

/** An address, name or setting that is not valid. */
export class BadAddress extends LeasectlError {
  readonly code = 'bad-address'
}

/**
 * The stream was removed during a change of it, and another one has its name. Only the lost journal could show whether
 * the change was made. It is not made in the new stream.
 */
export class StreamReplaced extends LeasectlError {
  readonly code = 'unknown'
}
