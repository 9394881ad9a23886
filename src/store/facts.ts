/** Facts about a store, none of them secret. A fact that could not be learned is absent and named in `unknown`. */
export type StoreFacts = MemoryFacts | SqliteFacts | AzureFacts

/** Facts about every store. */
export interface EveryStore {
  /** The address in the form that `--store` takes. */
  readonly address: string
  /** Facts that could not be learned: name → reason. */
  readonly unknown: { readonly [fact: string]: string }
}

/** Facts about a store in memory. */
export interface MemoryFacts extends EveryStore {
  readonly kind: 'memory'
}

/** Facts about the file of an embedded store. */
export interface SqliteFacts extends EveryStore {
  readonly kind: 'sqlite'
  /** Absolute. */
  readonly path: string
  /** False before the first write, which creates the file. */
  readonly exists: boolean
  /** Whether this user may create the file. Only if it does not exist. */
  readonly creatable?: boolean
  /** Version of the SQLite in this Node, `major.minor.patch`. */
  readonly sqliteVersion: string
  /** False for a SQLite version that can damage a file written by several programs. */
  readonly mayWrite: boolean
  /** Size of the file, bytes. */
  readonly size?: number
  /** Size of the write-ahead log, bytes. */
  readonly walSize?: number
  /** Number of names (hard links) of the file. A file with more than one is not used. */
  readonly names?: number
  /** Permissions of the file as `chmod` takes them, 0 to 0o777. Not known on Windows. */
  readonly mode?: number
  /** Free space on the disk for this user, bytes; quotas are not considered. */
  readonly freeBytes?: number
  /** Name of the network file system that holds the file; `''` if it is local. Known on Linux only. */
  readonly network?: string
  /** `wal` in a healthy store. */
  readonly journalMode?: string
  /** Setting of this connection; with `full` a commit survives a power cut. */
  readonly synchronous?: string
  /** Version of the tables. */
  readonly schemaVersion?: number
  /** Findings of `PRAGMA quick_check`, empty for a healthy file. Only with `deep`. */
  readonly faults?: readonly string[]
}

/** Facts about an Azure account and container. */
export interface AzureFacts extends EveryStore {
  readonly kind: 'azure'
  readonly emulator: boolean
  readonly container: string
  readonly auth: AzureAuth
  /** Fastest answer to a small request, ms; over an open connection if more than one request was sent. */
  readonly latencyMs?: number
  /** Offset of the local clock from the service's, ms, accurate to a second; positive: the local clock is ahead. */
  readonly clockAheadMs?: number
  /** Protocol version, from the `x-ms-version` header. */
  readonly serviceVersion?: string
  /** Kind of the account, such as `StorageV2`. */
  readonly accountKind?: string
  /** SKU of the account, such as `Standard_LRS`. */
  readonly sku?: string
  readonly hierarchicalNamespace?: boolean
  /** Retention of deleted and overwritten blobs, days; 0 = soft delete is off. */
  readonly softDeleteDays?: number
  /** Blob versioning: the service keeps every state that a write replaces. Known only after a write of this process. */
  readonly versioning?: boolean
  /** Anonymous access: none, reading a blob by its name, or also listing the container. */
  readonly publicAccess?: 'none' | 'blob' | 'container'
  readonly immutabilityPolicy?: boolean
  readonly legalHold?: boolean
  /** State of the lease on the container itself; usually `available`. */
  readonly containerLease?: string
}

/** Authorization of requests. */
export type AzureAuth =
  | { readonly kind: 'key' }
  | { readonly kind: 'sas'; readonly expiresMs?: number; readonly permissions: string }
  /** A token of Entra ID; `source` is the credential that supplies it. */
  | { readonly kind: 'entra'; readonly source: string }

/** Options of `inspect`. */
export interface InspectOptions {
  /** Also runs checks that take long on a large store: SQLite reads its whole file. */
  readonly deep?: boolean
  readonly signal?: AbortSignal
}
