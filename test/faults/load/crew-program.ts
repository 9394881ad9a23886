import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const CHILD = fileURLToPath(new URL('./child-load.ts', import.meta.url))

/** The program of the crew's processes, ready to be started often. */
export interface CrewProgram {
  readonly path: string
  /** The folder where Node keeps compiled code. */
  readonly cache: string
  remove(): void
}

/**
 * `child-load.ts` with all its imports in a few files. One process a second is killed and replaced: a start from the
 * sources would take more processor time than all its work until it is killed itself.
 */
export async function buildCrewProgram(): Promise<CrewProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-crew-program-'))
  const build = await rolldown({ input: { child: CHILD }, platform: 'node' })
  await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].js' })
  await build.close()
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return {
    path: join(folder, 'child.js'),
    cache: join(folder, 'cache'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
