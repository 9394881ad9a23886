import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { extractApi } from '../../build/api/extract.mjs'
import { renderApi } from '../../build/api/render.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

describe('docs/api', () => {
  let api: Awaited<ReturnType<typeof extractApi>>

  beforeAll(async () => {
    api = await extractApi()
  })

  test('every type that a public signature mentions is exported, and every export has a comment', () => {
    expect(api.faults).toEqual([])
  })

  test('is what `npm run api` generates from the sources', () => {
    const made = renderApi(api.exports)
    const folder = join(ROOT, 'docs/api')
    expect(readdirSync(folder).sort()).toEqual([...made.keys()].sort())
    for (const [name, text] of made) expect(readFileSync(join(folder, name), 'utf8'), `${name}: npm run api`).toBe(text)
  })

  test('its links lead to symbols', () => {
    const made = renderApi(api.exports)
    const places = new Set([...made].flatMap(([name, text]) => headings(text).map(heading => `${name}#${heading}`)))
    const links = [...made].flatMap(([name, text]) =>
      [...text.matchAll(/\]\(([a-z]*\.?m?d?)#([a-z_]+)\)/g)].map(([, file, symbol]) => `${file || name}#${symbol}`),
    )
    expect(links.length).toBeGreaterThan(100)
    expect(links.filter(link => !places.has(link))).toEqual([])
  })
})

function headings(text: string): string[] {
  return [...text.matchAll(/^### (\w+)$/gm)].map(([, name]) => name?.toLowerCase() ?? '')
}

test('an incomplete export of a library is reported', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-exports-'))
  try {
    mkdirSync(join(folder, 'src'))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    for (const name of ['tsconfig.json', 'tsconfig.build.json', 'package.json'])
      writeFileSync(join(folder, name), readFileSync(join(ROOT, name)))
    const hidden = 'interface Hidden { readonly a: number }'
    writeFileSync(join(folder, 'src/index.ts'), `${hidden}\nexport function open(given: Hidden): void {}`)
    const { faults } = await extractApi(folder)
    expect(faults).toEqual(['open has no doc comment', expect.stringContaining('"Hidden" needs to be exported')])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
