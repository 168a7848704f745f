"""The networks of ``keras.applications``, one file each, built as in Keras: every layer under its name, in Keras' order."""
