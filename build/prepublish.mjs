// `npm publish` in the checkout would create and send its own tarball, not the tested one.
console.error('Publish the tarball that CI tested: npm pack && npm publish ./leasectl-VERSION.tgz')
process.exitCode = 1
