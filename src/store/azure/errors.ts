import {
  BadAddress,
  type BlobFaultCode,
  ContainerMissing,
  NotPermitted,
  StoreFull,
  StoreIncompatible,
  StoreUnreachable,
  UnreadableBlob,
} from '../errors.ts'

/** Facts about the store for error messages, without secrets. */
export interface Site {
  readonly container: string
  /** `host` or `host:port`. */
  readonly host: string
  readonly emulator: boolean
  /** Expiry of the SAS, epoch ms. */
  readonly sasExpiresMs?: number
  nowMs(): number
}

/** The lease id is not, or no longer, that of the blob. */
const LEASE_GONE: ReadonlySet<string> = new Set([
  'LeaseLost',
  'LeaseNotPresentWithBlobOperation',
  'LeaseIdMismatchWithBlobOperation',
  'LeaseIdMismatchWithLeaseOperation',
  'LeaseNotPresentWithLeaseOperation',
  'LeaseIsBrokenAndCannotBeRenewed',
  'LeaseIsBreakingAndCannotBeChanged',
])

const HELD_BY_ANOTHER: ReadonlySet<string> = new Set([
  'LeaseAlreadyPresent',
  'LeaseIsBreakingAndCannotBeAcquired',
  'LeaseIdMissing',
])

const CONFLICT: ReadonlySet<string> = new Set(['ConditionNotMet', 'BlobAlreadyExists'])

const CONTAINER_GONE: ReadonlySet<string> = new Set(['ContainerNotFound', 'ContainerBeingDeleted'])

const NOT_THE_SERVICE = 'NotTheService'

const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ERR_TLS_CERT_\w+|CERT_\w+|\w+_CERT\w*)$/

/** Whether the lease id that was sent is not, or no longer, that of the blob. */
export const isLeaseGone = (error: ServiceError): boolean => LEASE_GONE.has(error.code)

/** Whether another holds the lease. */
export const isHeldByAnother = (error: ServiceError): boolean => HELD_BY_ANOTHER.has(error.code)

/** Whether an ETag condition failed: the blob was written, created or replaced since. */
export const isConflict = (error: ServiceError): boolean => CONFLICT.has(error.code)

/** Whether a condition on lease or ETag failed: the state changed before the request was applied. */
export const isCondition = (error: ServiceError): boolean =>
  isLeaseGone(error) || isHeldByAnother(error) || isConflict(error)

/** Whether the blob is missing in a container that exists. 403 and 5xx never mean that. */
export const isBlobMissing = (error: ServiceError): boolean => error.status === 404 && error.code === 'BlobNotFound'

/**
 * An error of the service, the network or the SDK, without anything that could be a secret: the SDK's own error carries the
 * request with its signature and headers, so it is never kept as a cause.
 */
export class ServiceError extends Error {
  /** The service's error code, or the network's (`ECONNREFUSED`), or `TimedOut`, or `NotTheService`. */
  readonly code: string
  /** HTTP status, `undefined` when no answer came. */
  readonly status: number | undefined
  readonly requestId: string | undefined
  /** The `Retry-After` of the answer, ms. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: string,
    details: {
      status?: number | undefined
      requestId?: string | undefined
      retryAfterMs?: number | undefined
      text?: string
    } = {},
  ) {
    super(details.text ?? (details.status === undefined ? code : `${code} (HTTP ${details.status})`))
    this.name = 'ServiceError'
    this.code = code
    this.status = details.status
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
  }

  /** Whether the service may have applied the request: no answer, an answer of another server, 5xx, throttling. */
  get ambiguous(): boolean {
    return this.status === undefined
      ? this.code !== 'NotSignedIn'
      : this.status >= 500 || this.status === 429 || this.status === 408
  }

  /** Whether the request cannot have reached the service: there was no connection. */
  get unsent(): boolean {
    return this.status === undefined && NO_CONNECTION.test(this.code)
  }

  /** Another server answered in place of the service: this does not count as an answer, so it has no status. */
  static ofAnother(problem: string, retryAfter?: string): ServiceError {
    return new ServiceError(NOT_THE_SERVICE, { text: problem, retryAfterMs: retryAfterMs(retryAfter) })
  }

  static of(thrown: unknown): ServiceError {
    if (thrown instanceof ServiceError) return thrown
    const error = thrown as Partial<SdkError> | undefined
    if (/Authentication|Credential/.test(error?.name ?? '') && error?.statusCode === undefined)
      return new ServiceError('NotSignedIn')
    const headers = error?.response?.headers
    return new ServiceError(codeOf(error), {
      status: error?.statusCode,
      requestId: headers?.get('x-ms-request-id'),
      retryAfterMs: retryAfterMs(headers?.get('retry-after')),
    })
  }
}

/** The fields of the SDK's errors that are read here. */
interface SdkError {
  readonly name: string
  readonly code: string
  readonly statusCode: number
  readonly details: { readonly errorCode?: string }
  readonly response: { readonly headers: { get(name: string): string | undefined } }
}

/** An answer to HEAD has no body, so its code is only in the header. */
function codeOf(error: Partial<SdkError> | undefined): string {
  const code = error?.response?.headers.get('x-ms-error-code') ?? error?.details?.errorCode ?? error?.code
  if (typeof code === 'string' && /^[\w-]{1,100}$/.test(code)) return code
  return error?.statusCode === undefined ? 'NoAnswer' : `Status${error.statusCode}`
}

function retryAfterMs(header: string | undefined): number | undefined {
  const seconds = Number(header)
  return header !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined
}

/** Error codes that concern a single blob. Any other refusal may concern every blob. */
const BLOB_FAULTS: ReadonlyMap<string, { readonly code: BlobFaultCode; readonly what: string; readonly hint: string }> =
  new Map(
    [
      {
        codes: ['BlobArchived'],
        code: 'blob-archived',
        what: 'its blob is in the archive tier',
        hint: 'Rehydrate it: az storage blob set-tier --tier Hot; that takes hours.',
      },
      {
        codes: ['BlobBeingRehydrated'],
        code: 'blob-archived',
        what: 'its blob is being rehydrated from the archive tier',
        hint: 'Wait until it is rehydrated: that takes hours.',
      },
      {
        codes: [
          'BlobUsesCustomerSpecifiedEncryption',
          'BlobCustomerSpecifiedEncryptionMismatch',
          'CustomerSpecifiedEncryptionMismatch',
        ],
        code: 'blob-encrypted',
        what: 'its blob is encrypted with a customer-provided key',
        hint: 'Write it again without one: leasectl does not send keys.',
      },
      {
        codes: ['InvalidBlobType'],
        code: 'blob-type',
        what: 'its blob is an append blob or a page blob',
        hint: 'Streams are block blobs: copy it to another name as a block blob.',
      },
      {
        codes: ['PendingCopyOperation'],
        code: 'blob-incomplete',
        what: 'its blob is being copied',
        hint: 'Try again when the copy has ended.',
      },
    ].flatMap(({ codes, ...fault }) => codes.map(code => [code, fault as typeof fault & { code: BlobFaultCode }])),
  )

/**
 * The fault to throw for an error that is not an outcome. Its cause is the redacted error.
 *
 * @param name name of the blob, if the request was about one
 */
export function faultOf(error: ServiceError, site: Site, name?: string): Error {
  const where = `container ${site.container} on ${site.host}`
  if (error.ambiguous) return unreachable(error, site)
  const ofBlob = name === undefined ? undefined : BLOB_FAULTS.get(error.code)
  if (name !== undefined && ofBlob !== undefined) {
    const { code, what, hint } = ofBlob
    return new UnreadableBlob(name, code, { what, hint, cause: error })
  }
  if (error.status === undefined || error.status === 401 || error.status === 403)
    return notPermitted(error, site, where)
  if (CONTAINER_GONE.has(error.code)) {
    return new ContainerMissing(`there is no ${where}`, { cause: error, hint: 'Create it with --create-container.' })
  }
  if (/Immutable|LegalHold/.test(error.code)) {
    return new NotPermitted(`${where} may not be changed: ${error.message}`, {
      cause: error,
      serviceCode: error.code,
      hint: 'An immutability policy protects it.',
    })
  }
  if (error.status === 413) return new StoreFull(`too large for ${where}: ${error.message}`, { cause: error })
  if (/^(InvalidResourceName|OutOfRangeInput|InvalidUri)$/.test(error.code)) {
    return new BadAddress(`${where} does not accept this name: ${error.message}`, { cause: error })
  }
  return new StoreIncompatible(`${where} refused the request: ${error.message}`, {
    cause: error,
    ...(site.emulator ? { hint: 'Start Azurite with --skipApiVersionCheck.' } : {}),
  })
}

function unreachable(error: ServiceError, site: Site): StoreUnreachable {
  return new StoreUnreachable(`${site.host} does not answer: ${error.message}`, {
    cause: error,
    hint: unreachableHint(error, site),
  })
}

function unreachableHint(error: ServiceError, site: Site): string {
  if (error.code === NOT_THE_SERVICE) {
    return 'The answer did not come from Azure, but from a proxy, a firewall or a captive portal: check the network.'
  }
  return site.emulator
    ? `Start it with: npx azurite-blob --inMemoryPersistence --skipApiVersionCheck --blobPort ${site.host.split(':').at(-1)}`
    : error.code === 'ENOTFOUND'
      ? 'Check the account name and the network.'
      : 'Try again; if it lasts, check the network and the state of the service.'
}

function notPermitted(error: ServiceError, site: Site, where: string): NotPermitted {
  const expiry = site.sasExpiresMs
  if (expiry !== undefined && expiry <= site.nowMs()) {
    return new NotPermitted(`no access to ${where}: the SAS expired at ${new Date(expiry).toISOString()}`, {
      cause: error,
      serviceCode: error.code,
      hint: 'Set a fresh one in AZURE_STORAGE_SAS_TOKEN.',
    })
  }
  return new NotPermitted(`no access to ${where}: ${error.message}`, {
    cause: error,
    serviceCode: error.code,
    hint: hintFor(error.code),
  })
}

function hintFor(code: string): string {
  switch (code) {
    case 'NotSignedIn':
      return 'Sign in with az login, or set AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or AZURE_STORAGE_CONNECTION_STRING.'
    case 'AuthenticationFailed':
    case 'InvalidAuthenticationInfo':
      return 'The key or signature does not match this account, or the clock of this machine is wrong.'
    case 'AuthorizationPermissionMismatch':
    case 'AuthorizationResourceTypeMismatch':
    case 'AuthorizationServiceMismatch':
      return 'Ask for the role Storage Blob Data Contributor, or for a SAS with read, write, create, delete and list on this container.'
    case 'AuthorizationSourceIPMismatch':
    case 'AuthorizationFailure':
      return 'The key or signature does not match, or the firewall of the account blocks this machine.'
    case 'KeyBasedAuthenticationNotPermitted':
      return 'The account does not accept keys: sign in with az login and set AZURE_STORAGE_AUTH_MODE=login.'
    default:
      return 'Check the credential and its rights on this container.'
  }
}
