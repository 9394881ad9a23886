import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stub } from '../../build/bundle.mjs'
import { fasterInk, fasterModule } from '../../build/faster-ink.mjs'
import type { Painter } from '../../src/tui/ink/painter.ts'
import { RandomFrames, randomOf } from '../unit/tui/support/random-frames.ts'
import { openTerminal } from '../unit/tui/support/terminal.ts'

type PainterClass = typeof Painter

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'leasectl-ink-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The painter bundled with Ink, original or with the edits. */
async function bundled(name: string, plugins: readonly Plugin[]): Promise<PainterClass> {
  const build = await rolldown({
    cwd: ROOT,
    input: 'src/tui/ink/painter.ts',
    platform: 'node',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [stub('react-devtools-core') as Plugin, ...plugins],
  })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  await build.close()
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, output[0].code)
  const module: { readonly Painter: PainterClass } = await import(pathToFileURL(file).href)
  return module.Painter
}

/** All output for the same random frames and resizes. */
async function writtenBy(PainterOfInk: PainterClass, seed: number): Promise<string[]> {
  let size = { columns: 80, rows: 24 }
  const random = randomOf(seed)
  const frames = new RandomFrames(seed)
  const { stdin, stdout } = openTerminal(size)
  const written: string[] = []
  stdout.write = (text: unknown, ...rest: readonly unknown[]) => {
    written.push(String(text))
    const done = rest.at(-1)
    if (typeof done === 'function') queueMicrotask(() => done())
    return true
  }
  const onFault = (error: unknown) => {
    throw error
  }
  const options = { stdin, stdout, theme: 'dark', nowMs: () => 0, onCost() {}, onFault } as const
  const painter = new PainterOfInk(frames.next(size), options)
  for (let step = 0; step < 50; step += 1) {
    if (random() < 0.05) size = { columns: 20 + Math.floor(random() * 100), rows: 5 + Math.floor(random() * 30) }
    const frame = frames.next(size)
    if (random() < 0.1 || frame.columns !== stdout.columns || frame.rows.length !== stdout.rows) {
      Object.assign(stdout, size)
      painter.repaint(() => frame, size)
    } else painter.draw(() => frame)
    await painter.written()
  }
  painter.close()
  return written
}

describe('the edits to Ink', () => {
  let plain: PainterClass
  let faster: PainterClass
  beforeAll(async () => {
    plain = await bundled('plain', [])
    faster = await bundled('faster', [fasterInk() as Plugin])
  })

  test.each([1, 2])('do not change the output (%i)', async seed => {
    const expected = await writtenBy(plain, seed)
    expect(expected.join('').length).toBeGreaterThan(10_000)
    expect(await writtenBy(faster, seed)).toEqual(expected)
  })

  test.each(['output.js', 'render-node-to-output.js', 'line-update.js', 'measure-text.js'])(
    'fail the build if Ink’s %s is not as expected',
    file => {
      const code = readFileSync(join(ROOT, 'node_modules/ink/build', file), 'utf8')
      expect(fasterModule(file, code)).not.toBe(code)
      expect(() => fasterModule(file, code.replaceAll('import ', 'import  '))).toThrow(`Ink's ${file}`)
    },
  )
})
