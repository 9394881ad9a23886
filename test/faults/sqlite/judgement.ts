import { existsSync } from 'node:fs'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { Decision, StreamSnapshot } from '../../../src/store/store.ts'
import { bytes, changeOptions, listed, put, stored, summary, text } from '../../contract/harness.ts'
import { integrity } from '../../unit/store/sqlite/support.ts'

/** The padding of documents, so that a change spans several pages. */
const FILLER = `|${'x'.repeat(6_000)}`

/** A document that holds the ids of its changes. */
export const document = (ids: string): string => `${ids}${FILLER}`
export const idsOf = (body: Uint8Array): readonly string[] => (text(body).split('|')[0] ?? '').split(' ')

/** Adds its id, unless it is present: as operations search for their command id in the journal. */
export const once =
  (id: string) =>
  ({ body }: StreamSnapshot): Decision =>
    idsOf(body).includes(id) ? { kind: 'leave' } : put(document(`${idsOf(body).join(' ')} ${id}`))()

export interface Expected {
  /** Ids of changes that were reported as done. */
  readonly acknowledged: Iterable<string>
  /** Ids of changes that were reported as not done. */
  readonly refused?: Iterable<string>
}

/**
 * The errors of the store at `path`, a line each: acknowledged changes that are lost, refused ones that exist, duplicate
 * ids, the result of integrity_check, and whether the next changes succeed.
 */
export async function faultsOf(path: string, { acknowledged, refused = [] }: Expected): Promise<string[]> {
  const faults: string[] = []
  try {
    const found = await idsIn(path)
    const there = new Set(found)
    for (const id of acknowledged) if (!there.has(id)) faults.push(`lost: ${id}`)
    for (const id of refused) if (there.has(id)) faults.push(`done although refused: ${id}`)
    for (const [at, id] of found.entries()) if (found.indexOf(id) !== at) faults.push(`twice: ${id}`)
    if (!existsSync(path)) faults.push('the file is gone')
    const said = integrity(path)
    if (said !== 'ok') faults.push(`integrity_check: ${said}`)
  } catch (error) {
    faults.push(`thrown: ${error}`)
  }
  return faults
}

const PROBE = 'judged'

/** All ids; then the document is written again. */
async function idsIn(path: string): Promise<readonly string[]> {
  const store = openSqliteStore(path)
  try {
    const ids: string[] = []
    for (const { name } of await listed(store)) ids.push(...idsOf((await stored(store, name)).body))
    await store.create(PROBE, bytes(document('probe')), summary())
    const outcome = await store.update(PROBE, put(document('probe')), changeOptions())
    if (outcome.kind !== 'committed') throw new Error(`the next change: ${outcome.kind}`)
    return ids
  } finally {
    await store.close()
  }
}
