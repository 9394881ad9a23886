import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A request to this port of 127.0.0.1 builds the program, if necessary, and returns its folder. */
    programControlPort: number
  }
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * The program as built from the current sources, once for the whole run, when the first test file needs it. In its own
 * folder: dist/ may be stale, and another run may be using it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let program: Promise<string> | undefined
  const control = createServer((_request, response) => {
    program ??= buildProgram()
    program.then(
      folder => response.end(folder),
      error => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>(resolve => control.listen(0, '127.0.0.1', resolve))
  project.provide('programControlPort', (control.address() as AddressInfo).port)
  return async () => {
    control.closeAllConnections()
    control.close()
    const folder = await program?.catch(() => undefined)
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** bin/ as published, dist/ without the parts that only developers need. */
async function buildProgram(): Promise<string> {
  const { bundle } = await import('../../build/bundle.mjs')
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-program-'))
  // Tests start it as another user too.
  await chmod(folder, 0o755)
  for (const { fileName, code } of await bundle(ROOT)) {
    await mkdir(dirname(join(folder, 'dist', fileName)), { recursive: true })
    await writeFile(join(folder, 'dist', fileName), code)
  }
  await cp(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}
