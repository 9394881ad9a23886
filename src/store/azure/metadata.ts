import { hash } from 'node:crypto'
import { decodeSummary, encodeSummary, type Summary, type SummaryKey, versionOf } from '../../stream/summary.ts'
import type { Holder, LeaseView } from '../store.ts'

/**
 * Metadata of a blob. Our keys begin with `leasectl_`. HTTP headers do not preserve the case of keys (listings do), so our keys
 * are compared in lower case, and foreign keys are in lower case after a write.
 */
export type Metadata = Readonly<Record<string, string>>

/** Checksum and size of a body, to verify that a summary belongs to it. */
export interface BodyMark {
  /** Lower-case hex. */
  readonly md5: string | undefined
  readonly size: number
}

/** The holder that an explicit `lease acquire` records in the metadata. */
export interface HolderRecord {
  readonly holder: Holder
  /** Identifies the lease of the record without revealing its id. */
  readonly leaseHash: string
}

const PREFIX = 'leasectl_'
const HOLDER = `${PREFIX}holder_`
const MD5 = 'md5'
const LENGTH = 'length'

/** Our metadata, with keys without the prefix: the fields of the summary, and checksum and size of its body. */
export type OurFields = Record<SummaryKey | typeof MD5 | typeof LENGTH, string | undefined>

/** All fields empty. Its copies share one hidden class, which makes them cheap to fill and read. */
export const NO_FIELDS: Readonly<OurFields> = {
  codec: undefined,
  v: undefined,
  open: undefined,
  done: undefined,
  failed: undefined,
  canceled: undefined,
  total: undefined,
  created: undefined,
  failed_at: undefined,
  ack: undefined,
  suspended: undefined,
  suspended_by: undefined,
  suspended_why: undefined,
  due: undefined,
  claim_end: undefined,
  ready_since: undefined,
  wake: undefined,
  born: undefined,
  status: undefined,
  outcome: undefined,
  by: undefined,
  root: undefined,
  key: undefined,
  topic: undefined,
  tag: undefined,
  tracking: undefined,
  failed_id: undefined,
  failed_name: undefined,
  failure: undefined,
  waiting: undefined,
  ready: undefined,
  running: undefined,
  gated: undefined,
  md5: undefined,
  length: undefined,
}

/** Azure's limit for keys and values together, bytes; the emulator does not check it. */
const MAX_METADATA_BYTES = 8_192

/** MD5, the checksum that the service stores with a body. */
export function md5Of(body: Uint8Array): Buffer {
  return hash('md5', body, 'buffer')
}

/** A short hash of a lease id: it identifies the id, and cannot be used as one. */
export function leaseHash(leaseId: string): string {
  return hash('sha256', leaseId.toLowerCase(), 'hex').slice(0, 32)
}

/** The metadata of other programs, which each write sends again. */
export function foreignMetadata(metadata: Metadata): Metadata {
  return pick(metadata, key => !key.startsWith(PREFIX))
}

/** The summary, if there is one that belongs to the body; and the version of any summary, even a stale one. */
export function readSummary(
  metadata: Metadata,
  body: BodyMark,
): { summary: Summary | undefined; versionFloor: number } {
  const fields: OurFields = { ...NO_FIELDS }
  for (const [key, value] of Object.entries(metadata)) {
    const field = fieldOf(key)
    if (field !== undefined) fields[field] = value
  }
  return { summary: summaryOf(fields, body), versionFloor: versionOf(fields) }
}

/** The summary from fields that are already extracted. */
export function summaryOf(fields: OurFields, body: BodyMark): Summary | undefined {
  return belongs(fields, body) ? decodeSummary(fields) : undefined
}

const FIELDS = new Map(Object.keys(NO_FIELDS).map(field => [PREFIX + field, field as keyof OurFields]))

/** Our field for a key; `undefined` for keys of a holder, of other programs and of later versions. */
export function fieldOf(key: string): keyof OurFields | undefined {
  return FIELDS.get(key) ?? FIELDS.get(key.toLowerCase())
}

function belongs(fields: OurFields, { md5, size }: BodyMark): boolean {
  return md5 !== undefined && fields.md5 === md5 && fields.length === String(size)
}

/**
 * All metadata of a write: foreign metadata, the summary with checksum and size of its body, the holder. Parts beyond the size
 * limit are dropped, the version last: without it, an older copy of the body cannot be distinguished from the latest.
 */
export function writeMetadata(parts: {
  foreign: Metadata
  summary: Summary
  md5: string
  size: number
  holder: HolderRecord | undefined
}): Record<string, string> {
  const holder = parts.holder === undefined ? {} : encodeHolder(parts.holder)
  const kept = { ...parts.foreign, ...holder }
  const all = {
    ...kept,
    ...prefixed({ ...encodeSummary(parts.summary), [MD5]: parts.md5, [LENGTH]: String(parts.size) }),
  }
  const version = prefixed({ v: String(parts.summary.version) })
  const shorter = [all, { ...kept, ...version }, kept, { ...parts.foreign, ...version }]
  return shorter.find(metadata => sizeOf(metadata) <= MAX_METADATA_BYTES) ?? { ...parts.foreign }
}

/** The metadata with this holder instead of any other; `undefined` if they exceed the limit. */
export function withHolder(metadata: Metadata, record: HolderRecord | undefined): Record<string, string> | undefined {
  const others = pick(metadata, key => !key.startsWith(HOLDER))
  const all = record === undefined ? { ...others } : { ...others, ...encodeHolder(record) }
  return sizeOf(all) <= MAX_METADATA_BYTES ? all : undefined
}

/** The recorded holder, current or not. */
export function readHolder(metadata: Metadata): HolderRecord | undefined {
  const ours = lowerCased(metadata)
  const field = (name: string) => decoded(ours[HOLDER + name])
  const recorded = field('lease')
  if (recorded === '') return undefined
  const holder = {
    by: field('by'),
    host: field('host'),
    pid: Number(field('pid')) || 0,
    purpose: field('purpose'),
    sinceMs: Number(field('since')) || 0,
  }
  return { holder, leaseHash: recorded }
}

/** The lease as any reader sees it. A recorded holder counts only while the blob is leased. */
export function leaseView(state: string | undefined, duration: string | undefined, metadata: Metadata): LeaseView {
  const known = stateOf(state)
  const live = known === 'leased' || known === 'breaking'
  const holder = live ? readHolder(metadata)?.holder : undefined
  return {
    state: known,
    ...(known === 'leased' && (duration === 'fixed' || duration === 'infinite') ? { duration } : {}),
    ...(holder === undefined ? {} : { holder }),
  }
}

function stateOf(state: string | undefined): LeaseView['state'] {
  return state === 'leased' || state === 'breaking' || state === 'broken' || state === 'expired' ? state : 'available'
}

function encodeHolder({ holder, leaseHash }: HolderRecord): Metadata {
  return {
    [`${HOLDER}by`]: encodeURIComponent(cut(holder.by)),
    [`${HOLDER}host`]: encodeURIComponent(cut(holder.host)),
    [`${HOLDER}pid`]: String(holder.pid),
    [`${HOLDER}purpose`]: encodeURIComponent(cut(holder.purpose)),
    [`${HOLDER}since`]: String(holder.sinceMs),
    [`${HOLDER}lease`]: leaseHash,
  }
}

/** Truncates to 100 UTF-16 units, at most nine bytes each when encoded, and replaces lone surrogates. */
function cut(text: string): string {
  return text.slice(0, 100).toWellFormed()
}

function decoded(value: string | undefined): string {
  try {
    return decodeURIComponent(value ?? '')
  } catch {
    return ''
  }
}

function prefixed(fields: Readonly<Record<string, string>>): Metadata {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [PREFIX + key, value]))
}

function pick(metadata: Metadata, wanted: (lowerKey: string) => boolean): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => wanted(key.toLowerCase())))
}

function lowerCased(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key.toLowerCase(), value]))
}

function sizeOf(metadata: Metadata): number {
  let bytes = 0
  for (const [key, value] of Object.entries(metadata)) bytes += key.length + value.length
  return bytes
}
