import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type Azurite, startAzurite } from './azurite-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A request to this port of 127.0.0.1 starts the shared Azurite, if need be, and answers with its port. */
    azuriteControlPort: number
  }
}

/**
 * One Azurite for the whole run, started by the first test file that asks: runs of pure tests do not pay for it. On disk: in
 * memory it stands still after ten minutes, which a run on a slow machine takes.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const location = await mkdtemp(join(tmpdir(), 'leasectl-azurite-'))
  let azurite: Promise<Azurite> | undefined
  const control = createServer((_request, response) => {
    azurite ??= startAzurite({ location })
    azurite.then(
      ({ port }) => response.end(String(port)),
      error => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>(resolve => control.listen(0, '127.0.0.1', resolve))
  project.provide('azuriteControlPort', (control.address() as AddressInfo).port)
  return async () => {
    control.closeAllConnections()
    control.close()
    await (await azurite?.catch(() => undefined))?.stop()
    await rm(location, { recursive: true, force: true })
  }
}
