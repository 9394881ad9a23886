import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { newUser, type User } from './program.ts'
import { act, begin, historyOf } from './top-store.ts'
import { quit, Terminals } from './top-terminal.ts'

/** The built dashboard in a terminal, over a network and beside the demo. */

let user: User
let terminals: Terminals

beforeAll(async () => {
  user = await newUser()
  terminals = new Terminals(user)
})
afterAll(async () => {
  await terminals.leave()
  user.leave()
})

const LIMIT = { timeout: 90_000 }

test('on Azurite the dashboard shows the list, a cancel with its reason, an outage and its end', LIMIT, async () => {
  const { port } = await sharedAzurite()
  const store = await openAzuriteStore(port)
  const proxy = await startFaultProxy({ target: { port } })
  const address = `azurite://127.0.0.1:${proxy.port}/${store.container}`
  try {
    for (const name of ['a', 'b']) await begin(store, name, [{ name: 'Search' }])
    const program = terminals.top(['--store', address, '--interval', '20ms', '--write'])
    await program.until(/2 streams[\s\S]*^› {2}a /m)
    program.press('c')
    await program.until(/This cancels a[\s\S]*\[ Yes, cancel \]/)
    program.type('not wanted')
    await program.until(/›reason: not wanted/)
    program.press('tab')
    await program.until(/›\[ No \]/)
    program.press('tab')
    await program.until(/›\[ Yes/)
    program.press('enter')
    await program.until(/✓ a: canceled/)
    expect((await historyOf(store, 'a')).slice(1)).toMatchObject([{ op: 'cancel', why: 'not wanted' }])
    program.press('esc')
    await program.until(/^› {2}a +⊘ canceled/m)
    proxy.add({ kind: 'lose-request' })
    await program.until(/stale .*retrying: /)
    await act(store, 'b', { op: 'abort' })
    proxy.heal()
    await program.until(/^ {3}b +✗ aborted/m)
    await program.until(rows => !rows.join().includes('retrying'))
    await quit(program)
  } finally {
    await terminals.leave()
    await proxy.stop()
    await store.close()
  }
})

test('demo --top shows the demo; q leaves no worker behind', LIMIT, async () => {
  const address = `sqlite:${join(user.home, 'demo.db')}`
  const program = terminals.leasectl(['demo', '--top', '--store', address], { columns: 120, rows: 30 })
  await program.until(/▸ demo\/search-order[\s\S]*00 OrderStart[\s\S]*Search/)
  expect(user.processesWith(address).length).toBeGreaterThan(1)
  await quit(program)
  await expect.poll(() => user.processesWith(address), { timeout: 25_000, interval: 20 }).toEqual([])
})
