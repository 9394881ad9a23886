import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BrowserPage, findChromium, openBrowser } from '../support/chromium.ts'
import { cli, newWorld } from '../unit/commands/support.ts'

const chromium = findChromium()
if (chromium === undefined)
  console.warn('SKIPPED: pages in a browser. Chromium is not on the PATH (apt-get install chromium).')

const HOSTILE = '</pre><script>document.title="run"</script><img src="http://127.0.0.1:9/x" onerror="document.title=1">'

describe.skipIf(chromium === undefined)('a page in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-page-'))
  let page: BrowserPage

  beforeAll(async () => {
    if (chromium !== undefined) page = await openBrowser(chromium)
  }, 60_000)
  afterAll(async () => {
    await page?.close()
    rmSync(folder, { recursive: true })
  })

  async function write(name: string, ...argv: string[]): Promise<string> {
    const world = newWorld()
    const long = `a/${'very-long-name-'.repeat(12)}`
    await cli(world, ['init', 'orders/1', '--fork', 'Search,Pay', '--timeout', '10m', '--key', HOSTILE])
    await cli(world, ['init', long, '--fork', `Search${'WithoutABreak'.repeat(20)},Pay`])
    await cli(world, ['event', 'start', 'orders/1', '01.00', '--by', 'w'.repeat(200)])
    await cli(world, ['event', 'fail', 'orders/1', '02.00', '-m', HOSTILE])
    await cli(world, ['event', 'fail', long, '01.00', '-m', 'x'.repeat(400)])
    world.nowMs += 60_000
    const ran = await cli(world, [...argv.map(word => (word === 'LONG' ? long : word)), '-o', 'html'])
    expect(ran.exit).toBe(0)
    const file = join(folder, `${name}.html`)
    writeFileSync(file, ran.stdout)
    return pathToFileURL(file).href
  }

  const PAGES: Record<string, string[]> = {
    stream: ['show', 'orders/1'],
    streams: ['show', 'orders/1', 'LONG'],
    listing: ['ls'],
    wide: ['ls', '--fields', 'name,key,failure,running,created,modified,root,status'],
    groups: ['ls', '--group-by', 'failure'],
  }

  it.each(Object.entries(PAGES))(
    '%s: no request, no message, no script, and no wider than a telephone',
    async (name, argv) => {
      const url = await write(name, ...argv)
      const before = page.requests.length
      await page.resize(390, 844)
      await page.open(url)
      expect(page.requests.slice(before)).toEqual([url])
      expect(page.messages).toEqual([])
      expect(await page.evaluate('document.title')).not.toMatch(/^(run|1)$/)
      expect(await page.evaluate('document.querySelectorAll("script,img,iframe,link").length')).toBe(0)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      // the style is applied in spite of the policy
      expect(await page.evaluate('getComputedStyle(document.body).maxWidth')).not.toBe('none')
      expect(await page.evaluate('document.body.innerText')).toContain(HOSTILE.slice(0, 40))
    },
    60_000,
  )

  it('notices a request and a script: the checks above can fail', async () => {
    const file = join(folder, 'bad.html')
    writeFileSync(file, `<img src="file:///nothing.png"><script>document.title='run'; console.error('x')</script>`)
    const before = page.requests.length
    await page.open(pathToFileURL(file).href)
    expect(page.requests.slice(before)).toHaveLength(2)
    expect(await page.evaluate('document.title')).toBe('run')
    expect(page.messages.length).toBeGreaterThan(0)
  }, 60_000)

  it('prints as PDF', async () => {
    await page.open(await write('print', ...(PAGES.stream ?? [])))
    expect((await page.print()).subarray(0, 5).toString()).toBe('%PDF-')
  }, 60_000)
})
