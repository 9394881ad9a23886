import { accountUrl } from '../../src/store/address.ts'
import { openContainer } from '../../src/store/azure/client.ts'
import { openAzureBlobStore } from '../../src/store/azure/store.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { testAccount } from './live-store.ts'

/** Names of blobs of other programs that are not stream names. */
export const ODD_NAMES = ['orders/', 'x.', 'a/./b', 'tab\there', 'line\nbreak', 'del\u007f', 'c1\u0085'] as const

/** Possible unreadable blobs beside streams: their names, and the code with which they are reported. */
export const ODD_BLOBS = {
  'names that no stream can have': { names: ODD_NAMES, code: 'bad-name' },
  'a blob in the archive tier': { names: ['odd/archived'], code: 'blob-archived' },
  'a blob with a key of its writer': { names: ['odd/encrypted'], code: 'blob-encrypted' },
  'an append blob': { names: ['odd/append'], code: 'blob-type' },
} as const

export type OddKind = keyof typeof ODD_BLOBS

/** The answer of the service when such a blob is read, leased or written. */
const SAID: { readonly [kind in OddKind]?: string } = {
  'a blob in the archive tier': 'BlobArchived',
  'a blob with a key of its writer': 'BlobUsesCustomerSpecifiedEncryption',
}

export interface OddStore {
  readonly store: StreamStore
  readonly container: string
  readonly proxy: FaultProxy
  /** Adds the odd blobs to the store, each a copy of that stream, including its summary. */
  plant(kind: OddKind, from: string, to?: readonly string[]): Promise<void>
  end(): Promise<void>
}

/** A fresh store on the emulator, with blobs that no driver would create. */
export async function openOddStore(): Promise<OddStore> {
  const account = await testAccount()
  const container = account.newContainer()
  const direct = await account.direct(container)
  const { client, oddBlob } = await openContainer(accountUrl(direct.address), container, direct.credential)
  await client.create()
  const proxy = await startFaultProxy({ target: account.target })
  const store = await openAzureBlobStore(await account.over(proxy.port, container))
  return {
    store,
    container,
    proxy,
    async plant(kind, from, to = ODD_BLOBS[kind].names) {
      const source = client.getBlobClient(from)
      const body = await source.downloadToBuffer()
      const { metadata = {} } = await source.getProperties()
      for (const name of to) {
        if (kind === 'an append blob') {
          const blob = client.getAppendBlobClient(name)
          await blob.create({ metadata })
          await blob.appendBlock(body, body.length)
        } else await oddBlob(name).upload(body, body.length, { metadata: kind.includes('key') ? {} : metadata })
        const code = SAID[kind]
        const path = `/${encodeURI(name)}`
        if (code === undefined) continue
        for (const on of ['get', 'acquire', 'put'] as const) {
          const when = ({ target }: { readonly target: string }) => target.split('?')[0]?.endsWith(path) === true
          proxy.add({ kind: 'error-before', on, when, status: 409, code })
        }
      }
    },
    async end() {
      await store.close()
      await proxy.stop()
    },
  }
}
