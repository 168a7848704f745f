"""Networks for images and videos, as torchvision builds them: one file each, in its argument names, tensor names and storage order."""
