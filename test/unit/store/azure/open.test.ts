import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BadAddress } from '../../../../src/store/errors.ts'
import { openStore } from '../../../../src/store/open.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'

describe('openStore', () => {
  it('opens memory:, sqlite: and azurite: addresses, which the stores return', async () => {
    const { port } = await sharedAzurite()
    const made = await openAzuriteStore(port)
    await made.close()
    const folder = await mkdtemp(join(tmpdir(), 'leasectl-open-'))
    try {
      for (const address of [
        'memory:',
        `sqlite:${join(folder, 'x.db')}`,
        `azurite://127.0.0.1:${port}/${made.container}`,
      ]) {
        const store = await openStore(address, {})
        expect(store.address).toBe(address)
        expect(await store.read('none')).toBeUndefined()
        await store.close()
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('sends no request to Azure before the first operation', async () => {
    const store = await openStore('azurite://127.0.0.1:1/orders', {})
    await expect(store.read('none')).rejects.toThrow(/127\.0\.0\.1:1 does not answer/)
    await store.close()
  })

  it('refuses an invalid address', async () => {
    await expect(openStore('orders', {})).rejects.toBeInstanceOf(BadAddress)
  })
})
