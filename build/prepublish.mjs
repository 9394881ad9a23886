// `npm publish` in the checkout would send a tarball of its own making, not the tested one.
console.error('Publish the tarball that CI tested: npm pack && npm publish ./leasectl-VERSION.tgz')
process.exitCode = 1
