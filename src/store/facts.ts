/** What a driver knows of its place; nothing of it is secret. What it could not learn is absent and stands in `unknown`. */
export type StoreFacts = MemoryFacts | SqliteFacts | AzureFacts

/** What every driver knows of its place. */
export interface EveryStore {
  /** In the form in which `--store` takes it. */
  readonly address: string
  /** Names of facts that could not be learned, each with the reason. */
  readonly unknown: { readonly [fact: string]: string }
}

/** What the memory driver knows. */
export interface MemoryFacts extends EveryStore {
  readonly kind: 'memory'
}

/** What the embedded store knows of its file. */
export interface SqliteFacts extends EveryStore {
  readonly kind: 'sqlite'
  /** Absolute. */
  readonly path: string
  /** False as long as nothing was written: the file is made by the first write. */
  readonly exists: boolean
  /** Of a file that does not exist yet: whether this user may make it. */
  readonly creatable?: boolean
  /** The SQLite in this Node, as `major.minor.patch`. */
  readonly sqliteVersion: string
  /** False for a SQLite that can damage a file which several programs write. */
  readonly mayWrite: boolean
  /** Bytes of the file, and of the write-ahead log beside it. */
  readonly size?: number
  readonly walSize?: number
  /** How many names (hard links) the file has; with more than one it is not used. */
  readonly names?: number
  /** Rights of the file as `chmod` takes them, 0 to 0o777. Not known on Windows. */
  readonly mode?: number
  /** Bytes that this user can still write to the disk; a quota is not seen. */
  readonly freeBytes?: number
  /** Name of the network file system that the file is on; `''` for a local one. Known on Linux. */
  readonly network?: string
  /** `wal` in a sound store. */
  readonly journalMode?: string
  /** As this connection writes: `full` means that a commit survives a power cut. */
  readonly synchronous?: string
  /** Of the tables. */
  readonly schemaVersion?: number
  /** Only if asked for: what `PRAGMA quick_check` found; empty for a sound file. */
  readonly faults?: readonly string[]
}

/** What the Azure driver knows of its account and container. */
export interface AzureFacts extends EveryStore {
  readonly kind: 'azure'
  readonly emulator: boolean
  readonly container: string
  readonly auth: AzureAuth
  /** Fastest answer to a small request, ms, over an open connection where there was more than one. */
  readonly latencyMs?: number
  /** How far the clock of this machine is ahead of the service's; negative: behind. To a second, ms. */
  readonly clockAheadMs?: number
  /** Version of the protocol, from the `x-ms-version` header. */
  readonly serviceVersion?: string
  /** `StorageV2` and the like. */
  readonly accountKind?: string
  /** `Standard_LRS` and the like. */
  readonly sku?: string
  readonly hierarchicalNamespace?: boolean
  /** How long deleted and overwritten blobs are kept, days; 0 = they are not. */
  readonly softDeleteDays?: number
  /** The service keeps each state of a blob that a write replaces. Known after a write of this process. */
  readonly versioning?: boolean
  /** Who may read without signing in: nobody, who knows a name, or everybody who can list. */
  readonly publicAccess?: 'none' | 'blob' | 'container'
  readonly immutabilityPolicy?: boolean
  readonly legalHold?: boolean
  /** Of the container itself, `available` unless somebody leases it. */
  readonly containerLease?: string
}

/** How requests are signed. */
export type AzureAuth =
  | { readonly kind: 'key' }
  | { readonly kind: 'sas'; readonly expiresMs?: number; readonly permissions: string }
  /** With a token of Entra ID; `source` is where it comes from. */
  | { readonly kind: 'entra'; readonly source: string }

/** How far to look. */
export interface InspectOptions {
  /** Also what takes long on a large store: SQLite reads its whole file. */
  readonly deep?: boolean
  readonly signal?: AbortSignal
}
