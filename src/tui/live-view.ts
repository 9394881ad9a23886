/** Draws a few lines in place at the bottom of the terminal, with Ink. For terminals only; elsewhere print lines. */
export async function openLiveView(stdout: NodeJS.WriteStream) {
  const [{ render }, { createElement }, { LiveLines }] = await Promise.all([
    import('ink'),
    import('react'),
    import('./ink/LiveLines.tsx'),
  ])
  const app = render(createElement(LiveLines, { lines: [] }), { stdout, exitOnCtrlC: false, patchConsole: false })
  // A frame as high as the screen would scroll it.
  const height = () => Math.max(1, (stdout.rows ?? 24) - 1)
  return {
    get height() {
      return height()
    },
    draw(lines: readonly string[]) {
      app.rerender(createElement(LiveLines, { lines: lines.slice(0, height()) }))
    },
    async close() {
      app.clear()
      app.unmount()
      await app.waitUntilExit()
    },
  }
}
