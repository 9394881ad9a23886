import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { contend } from './contention.ts'

test('20 processes make 50 changes each of one stream in SQLite: none is lost, none doubled', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-contention-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = await openStore(`sqlite:${join(folder, 'streams.db')}`, {})
  onTestFinished(() => store.close())
  await contend(store, 1)
})

test('20 processes make 50 changes each of one stream in Azurite, under its lease: none is lost, none doubled', {
  timeout: 60_000,
}, async () => {
  const { port } = await sharedAzurite()
  const store = await openAzuriteStore(port)
  onTestFinished(() => store.close())
  expect(store.address).toBe(`azurite://127.0.0.1:${port}/${store.container}`)
  await contend(store, 25)
})
