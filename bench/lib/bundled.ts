import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../build/bundle.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Hands the path of a source file, bundled as the program is, to `use`: Node's own reading of TypeScript takes 40 MB. */
export async function withBundled<T>(source: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bundle-'))
  try {
    await mkdir(join(folder, 'chunks'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    for (const { fileName, code } of await bundle(ROOT, { cli: 'src/commands/main.ts', child: source })) {
      await writeFile(join(folder, fileName), code)
    }
    return await use(join(folder, 'child.js'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
