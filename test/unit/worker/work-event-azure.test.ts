import { expect, onTestFinished, test } from 'vitest'
import type { Job } from '../../../src/worker/types.ts'
import { workEvent } from '../../../src/worker/work-event.ts'
import { stored } from '../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { init, resultOf, run } from '../ops/support.ts'

test('a heartbeat that is due during the report of the result leaves no lease behind when the store is closed', async () => {
  const { port } = await sharedAzurite()
  const direct = await openAzuriteStore(port)
  const proxy = await startFaultProxy({ target: { port } })
  const store = await openAzuriteStore(proxy.port, { container: direct.container })
  onTestFinished(async () => {
    await Promise.all([direct.close(), store.close()])
    await proxy.stop()
  })
  resultOf(await run(direct, 's', init(['A'])))
  let beating: Promise<boolean> | undefined
  const work = (job: Job) => {
    // The next Put is that of the report: the heartbeat is after it in the queue.
    const before = async () => {
      beating = job.progress('late')
    }
    proxy.add({ kind: 'delay', on: 'put', nth: 1, before })
    return undefined
  }
  const outcome = await workEvent(store, { stream: 's', event: '01.00' }, { owner: 'w', claimMs: 60_000 }, work)
  expect(outcome).toMatchObject({ kind: 'reported', ending: { op: 'complete' } })
  expect(beating).toBeDefined()
  await store.close()
  expect((await stored(direct, 's')).lease.state).toBe('available')
})
