"""What looking at eight cards costs: ours, jupyterlab-nvdashboard's server, gpustat and nvitop, on one stand-in."""
