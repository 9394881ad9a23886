import { shardOf } from '../../ops/shards/quota.ts'
import { changeSystemDocument, readSystemDocument } from '../../ops/system-documents.ts'
import { thisHost } from '../../ops/transact/transact.ts'
import type { StreamStore } from '../../store/store.ts'
import {
  type PositionDocument,
  parsePosition,
  positionText,
  startPositionDocument,
} from '../../subscriptions/position/document.ts'
import { MARGIN_MS } from '../../subscriptions/position/transactions.ts'

/** Where a hook stands in one shard of the store. */
export interface HookPosition {
  readonly document: PositionDocument
  /** Short ids of the last deliveries that have no version of their own: notices and foreign writes. */
  readonly told: readonly string[]
}

/** Stores the positions of one hook, so that no event is lost while no watchdog runs. */
export interface PositionStore {
  /** `undefined`: it has none. @throws the store's faults; those of `parsePosition` */
  read(shard: number, count: number): Promise<HookPosition | undefined>
  /** False: another watchdog is writing; try again later. @throws the store's faults */
  write(shard: number, count: number, position: HookPosition): Promise<boolean>
}

/** Maximum size of a position, bytes, and number of ids in it. */
const MAX_BYTES = 16 * 1024 * 1024
const MAX_TOLD = 500

/** Positions in the store itself, by the keys of hooks: the next watchdog finds them on any machine. */
export function hookPositions(store: StreamStore, by: string): (key: string) => PositionStore {
  return key => {
    const folder = `.leasectl/watchdog/positions/${key}/`
    const nameOf = (shard: number, count: number) => `${folder}${count}/${shard}`
    return {
      async read(shard, count) {
        const name = nameOf(shard, count)
        const text = await readSystemDocument(store, name, undefined, MAX_BYTES)
        if (text !== undefined) return positionOf(name, text)
        return (
          (await fromOtherCount(store, folder, shard, count)) ?? (await fromWatermark(store, key, shard, count, by))
        )
      },
      async write(shard, count, { document, told }) {
        const status = { ...document.status, by, host: thisHost(), atMs: store.nowMs() }
        const fields = { ...document, told: told.slice(-MAX_TOLD), status }
        const outcome = await changeSystemDocument(store, nameOf(shard, count), () => positionText(fields), {
          by,
          purpose: 'watchdog: position of a hook',
          maxBytes: MAX_BYTES,
        })
        return outcome === 'written' || outcome === 'left'
      },
    }
  }
}

function positionOf(name: string, text: string): HookPosition {
  return { document: parsePosition(name, text), told: toldOf(JSON.parse(text)) }
}

/** The number of shards has changed: everything that the positions of the last number know, from the earliest one on. */
async function fromOtherCount(
  store: StreamStore,
  folder: string,
  shard: number,
  count: number,
): Promise<HookPosition | undefined> {
  const found = new Map<string, HookPosition[]>()
  for await (const page of store.list({ prefix: folder, reserved: true })) {
    for (const { name } of page) {
      const text = await readSystemDocument(store, name, undefined, MAX_BYTES)
      const [other = ''] = name.slice(folder.length).split('/')
      if (text !== undefined) found.set(other, [...(found.get(other) ?? []), positionOf(name, text)])
    }
  }
  const writtenMs = (group: readonly HookPosition[]) => Math.max(...group.map(({ document }) => document.status.atMs))
  const [last] = [...found.values()].sort((a, b) => writtenMs(b) - writtenMs(a))
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
  return { document, told: last.flatMap(({ told }) => told) }
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
  const text = await readSystemDocument(store, `.leasectl/watchdog/hooks/${key}`)
  const fields = text === undefined ? undefined : fieldsOf(text)
  if (!Array.isArray(fields?.since)) return undefined
  const since: readonly unknown[] = fields.since
  const known = since.filter(ms => typeof ms === 'number' && Number.isSafeInteger(ms)).map(Number)
  if (known.length === 0) return undefined
  const own = since.length === count ? since[shard] : undefined
  // A wrong clock may have written a time in the future.
  const watermarkMs = Math.min(typeof own === 'number' ? own : Math.min(...known), store.nowMs())
  return { document: startHookDocument(watermarkMs, store.nowMs(), by), told: toldOf(fields) }
}

/** The position of a hook that receives what became visible since a time: it may be stamped a minute before. */
export function startHookDocument(sinceMs: number, nowMs: number, by: string): PositionDocument {
  const document = startPositionDocument(Math.max(0, sinceMs - MARGIN_MS), nowMs, by)
  return { ...document, watermarkMs: Math.max(0, sinceMs - MARGIN_MS / 2) }
}

function toldOf({ told }: { readonly told?: unknown }): readonly string[] {
  return Array.isArray(told) ? told.filter(id => typeof id === 'string') : []
}

function fieldsOf(text: string): { readonly since?: unknown; readonly told?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
