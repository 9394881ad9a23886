import { readStream } from '../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { isFinal } from '../../../src/stream/event.ts'

/** The traces of a stopped program. */
export interface Aftermath {
  /** Streams whose lease still runs. */
  readonly leased: readonly string[]
  /** Streams with partial results, and which ones. */
  readonly half: readonly string[]
  /** The number of streams canceled as a whole. */
  readonly canceled: number
}

export async function aftermathOf(store: StreamStore): Promise<Aftermath> {
  const leased: string[] = []
  const half: string[] = []
  let canceled = 0
  for await (const page of store.list({})) {
    for (const { name, lease } of page) {
      if (lease.state === 'leased' || lease.state === 'breaking') leased.push(name)
      const { isCanceled, faults } = await stateOf(store, name)
      half.push(...faults)
      if (isCanceled) canceled += 1
    }
  }
  return { leased, half, canceled }
}

/** A canceled stream has no open event; no event is claimed by a dead worker; no version is missing. */
async function stateOf(store: StreamStore, name: string) {
  const view = await readStream(store, name)
  if (view === undefined) return { isCanceled: false, faults: [`${name} is gone`] }
  const [root, ...others] = view.document.events
  const isCanceled = root?.status === 'canceled'
  const open = others.filter(event => !isFinal(event))
  const versions = view.transactions().map(({ version }) => version)
  return {
    isCanceled,
    faults: [
      ...(isCanceled ? open.map(({ id }) => `${name}: ${id} is open below what was canceled`) : []),
      ...open.flatMap(({ id, status }) => (status === 'inprocess' ? [`${name}: ${id} is left to nobody`] : [])),
      ...versions.flatMap((version, at) => (version === at + 1 ? [] : [`${name}: version ${version} after ${at}`])),
    ],
  }
}
