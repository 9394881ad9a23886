import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, THREADS } from '../../build/bundle.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A bundled program. */
export interface Bundled {
  /** The source file. */
  readonly child: string
  /** The program, as `bin/leasectl.js` starts it. */
  readonly program: string
}

/** Bundles a source file like the program and passes it to `use`: Node's own TypeScript support takes 40 MB, and no JSX. */
export async function withBundled<T>(source: string, use: (files: Bundled) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bundle-'))
  try {
    await mkdir(join(folder, 'dist', 'chunks'), { recursive: true })
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await cp(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true })
    for (const { fileName, code } of await bundle(ROOT, { cli: 'src/commands/main.ts', child: source, ...THREADS })) {
      await writeFile(join(folder, 'dist', fileName), code)
    }
    return await use({ child: join(folder, 'dist', 'child.js'), program: join(folder, 'bin', 'leasectl.js') })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
