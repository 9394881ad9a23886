import { readSystemDocument } from '../../ops/read-system-document.ts'
import { shardOf } from '../../ops/shards/quota.ts'
import { changeSystemDocument } from '../../ops/system-documents.ts'
import { thisHost } from '../../ops/transact/transact.ts'
import type { StreamStore } from '../../store/store.ts'
import { isObject } from '../../stream/values.ts'
import {
  type PositionDocument,
  parsePosition,
  positionText,
  startPositionDocument,
} from '../../subscriptions/position/document.ts'
import { MARGIN_MS } from '../../subscriptions/position/transactions.ts'
import type { Expiry } from '../decision.ts'

/** Where a hook stands in one shard of the store. */
export interface HookPosition {
  readonly document: PositionDocument
  /** Short ids of the last deliveries that have no version of their own: notices and foreign writes. */
  readonly told: readonly string[]
  /** Notices that were not delivered yet. */
  readonly notices: readonly Expiry[]
  /** Who wrote it, if shards have one owner. */
  readonly tenure?: string
}

/** Stores the positions of one hook, so that no event is lost while no watchdog runs. */
export interface PositionStore {
  /** `undefined`: it has none. @throws the store's faults; those of `parsePosition` */
  read(shard: number, count: number): Promise<HookPosition | undefined>
  /**
   * `lost`: it has another owner now, and was not changed. `busy`: another watchdog is writing; try again later.
   *
   * @param isFirst the owner takes it, whoever had it
   * @throws the store's faults
   */
  write(shard: number, count: number, position: HookPosition, isFirst: boolean): Promise<'written' | 'lost' | 'busy'>
}

/** Maximum size of a position, bytes, and number of ids in it. */
const MAX_BYTES = 16 * 1024 * 1024
const MAX_TOLD = 500
const MAX_NOTICES = 10_000

/** Positions in the store itself, by the keys of hooks: the next watchdog finds them on any machine. */
export function hookPositions(store: StreamStore, by: string): (key: string) => PositionStore {
  return key => {
    const folder = `.leasectl/watchdog/positions/${key}/`
    /** Shards that began at the watermark of an earlier version. */
    const migrated = new Set<number>()
    const nameOf = (shard: number, count: number) => `${folder}${count}/${shard}`
    return {
      async read(shard, count) {
        const name = nameOf(shard, count)
        const text = await readSystemDocument(store, name, undefined, MAX_BYTES)
        if (text !== undefined) return positionOf(name, text)
        const groups = await positionsByCount(store, folder)
        const siblings = groups.get(String(count)) ?? []
        groups.delete(String(count))
        const other = fromOtherCount([...groups.values()], shard, count)
        if (other !== undefined) return other
        const old = await fromWatermark(store, key, shard, count, by)
        if (old !== undefined) migrated.add(shard)
        return old ?? fromOtherCount([siblings], shard, count)
      },
      async write(shard, count, { document, told, notices, tenure = '' }, isFirst) {
        const status = { ...document.status, by, host: thisHost(), atMs: store.nowMs() }
        const kept = { told: told.slice(-MAX_TOLD), notices: notices.slice(0, MAX_NOTICES) }
        // Found again by its beginning, whatever the texts behind it say.
        const text = positionText({ ...document, status, ...kept }).replace('{', `{"tenure":${JSON.stringify(tenure)},`)
        let isLost = false
        const change = (present: string | undefined) => {
          isLost = !isFirst && tenure !== '' && present !== undefined && tenureIn(present) !== tenure
          return isLost ? undefined : text
        }
        const options = { by, purpose: 'watchdog: position of a hook', maxBytes: MAX_BYTES }
        const outcome = await changeSystemDocument(store, nameOf(shard, count), change, options)
        if (isLost) return 'lost'
        if (outcome !== 'written' && outcome !== 'left') return 'busy'
        if (migrated.delete(shard)) await removeWatermark(store, key, `${folder}${count}/`, count).catch(() => {})
        return 'written'
      },
    }
  }
}

function positionOf(name: string, text: string): HookPosition {
  const fields = JSON.parse(text)
  return { document: parsePosition(name, text), told: toldOf(fields), notices: noticesOf(fields) }
}

function tenureIn(text: string): string {
  return /^\{"tenure":"([^"]*)"/.exec(text)?.[1] ?? ''
}

async function positionsByCount(store: StreamStore, folder: string): Promise<Map<string, HookPosition[]>> {
  const found = new Map<string, HookPosition[]>()
  for await (const page of store.list({ prefix: folder, reserved: true })) {
    for (const { name } of page) {
      const text = await readSystemDocument(store, name, undefined, MAX_BYTES)
      const [count = ''] = name.slice(folder.length).split('/')
      if (text !== undefined) found.set(count, [...(found.get(count) ?? []), positionOf(name, text)])
    }
  }
  return found
}

/** The number of shards has changed: everything that the positions of the last number know, from the earliest one on. */
function fromOtherCount(
  groups: readonly (readonly HookPosition[])[],
  shard: number,
  count: number,
): HookPosition | undefined {
  const writtenMs = (group: readonly HookPosition[]) => Math.max(...group.map(({ document }) => document.status.atMs))
  const [last] = [...groups].sort((a, b) => writtenMs(b) - writtenMs(a))
  const [first] = last?.map(({ document }) => document) ?? []
  if (last === undefined || first === undefined) return undefined
  const documents = last.map(({ document }) => document)
  const document = {
    ...first,
    fromMs: Math.min(...documents.map(({ fromMs }) => fromMs)),
    watermarkMs: Math.min(...documents.map(({ watermarkMs }) => watermarkMs)),
    swept: [],
    recent: new Map(documents.flatMap(({ recent }) => [...recent])),
    streams: documents.flatMap(({ streams }) => streams).filter(({ stream }) => shardOf(stream, count) === shard),
  }
  const notices = last.flatMap(position => position.notices).filter(({ stream }) => shardOf(stream, count) === shard)
  return { document, told: last.flatMap(({ told }) => told), notices }
}

/**
 * Earlier versions of leasectl kept a time for each shard, up to which everything was delivered, and the ids of the last
 * deliveries.
 */
async function fromWatermark(
  store: StreamStore,
  key: string,
  shard: number,
  count: number,
  by: string,
): Promise<HookPosition | undefined> {
  const text = await readSystemDocument(store, watermarkName(key))
  const fields = text === undefined ? undefined : fieldsOf(text)
  if (!Array.isArray(fields?.since)) return undefined
  const since: readonly unknown[] = fields.since
  const known = since.filter(ms => typeof ms === 'number' && Number.isSafeInteger(ms)).map(Number)
  if (known.length === 0) return undefined
  const own = since.length === count ? since[shard] : undefined
  // A wrong clock may have written a time in the future.
  const watermarkMs = Math.min(typeof own === 'number' ? own : Math.min(...known), store.nowMs())
  return { document: startHookDocument(watermarkMs, store.nowMs(), by), told: toldOf(fields), notices: [] }
}

function watermarkName(key: string): string {
  return `.leasectl/watchdog/hooks/${key}`
}

/** Removes the document of an earlier version once each shard has its own position. */
async function removeWatermark(store: StreamStore, key: string, folder: string, count: number): Promise<void> {
  let written = 0
  for await (const page of store.list({ prefix: folder, reserved: true })) written += page.length
  if (written >= count) await store.remove(watermarkName(key), {})
}

/** The position of a hook that receives what became visible since a time: it may be stamped a minute before. */
export function startHookDocument(sinceMs: number, nowMs: number, by: string): PositionDocument {
  const document = startPositionDocument(Math.max(0, sinceMs - MARGIN_MS), nowMs, by)
  return { ...document, watermarkMs: Math.max(0, sinceMs - MARGIN_MS / 2) }
}

function toldOf({ told }: { readonly told?: unknown }): readonly string[] {
  return Array.isArray(told) ? told.filter(id => typeof id === 'string') : []
}

/** Damaged ones are left out: watchdogs find again what is still due. */
function noticesOf({ notices }: { readonly notices?: unknown }): readonly Expiry[] {
  return Array.isArray(notices) ? notices.filter(isNotice) : []
}

function isNotice(value: unknown): value is Expiry {
  if (!isObject(value) || value.kind !== 'notify') return false
  const texts = [value.stream, value.event, value.name, value.limit, value.message, value.commandId]
  return texts.every(text => typeof text === 'string') && Number.isFinite(value.dueMs)
}

function fieldsOf(text: string): { readonly since?: unknown; readonly told?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
